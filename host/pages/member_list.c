#include "host/pages/member_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/json.h"
#include "host/pages/holders.h"

#define TAKERS_MAX 16 /* that are named */

/* Where the lines go: JSON when `json` is set, else the stream. */
struct listing {
    struct json *json;
    FILE *stream;
    struct holders holders;
};

/* The members of one pool, and the open leases, sorted by member. */
struct listed {
    const char *path;
    struct weir_member *members;
    struct pool_lease *leases;
    uint32_t count;
    uint32_t lease_count;
};

static const char *state_name(uint32_t state)
{
    static const char *const names[] = {
        [WEIR_MEMBER_OPEN] = "open",          [WEIR_MEMBER_STARTING] = "opening",
        [WEIR_MEMBER_BROKEN] = "opens again", [WEIR_MEMBER_STOPPED] = "stopped",
        [WEIR_MEMBER_RETIRING] = "leaving",   [WEIR_MEMBER_POOL] = "pool",
    };

    return state < sizeof names / sizeof names[0] && names[state] ? names[state] : "?";
}

static int by_member(const void *left, const void *right)
{
    const struct pool_lease *a = left, *b = right;

    return (a->member > b->member) - (a->member < b->member);
}

/* NULL: it is not leased. */
static const struct pool_lease *lease_of(const struct listed *listed,
                                         const struct weir_member *member)
{
    const struct pool_lease key = { .member = member->pid };

    return listed->lease_count == 0
               ? NULL
               : bsearch(&key, listed->leases, listed->lease_count, sizeof key, by_member);
}

static void write_lease(const struct listing *listing, const struct pool_lease *lease)
{
    char holder[HOLDER_NAME_SIZE];

    holders_name(&listing->holders, lease->holder, holder);
    json_begin_object(listing->json, "lease");
    json_text(listing->json, "holder", holder);
    json_unsigned(listing->json, "holder_pid", lease->holder);
    json_unsigned(listing->json, "age_ms", lease->age_ms);
    json_end(listing->json);
}

static void write_member(const struct listing *listing, const struct listed *listed,
                         const struct weir_member *member)
{
    const struct pool_lease *lease = lease_of(listed, member);

    json_begin_object(listing->json, NULL);
    json_text(listing->json, "pool", listed->path);
    json_unsigned(listing->json, "worker", member->index);
    json_text(listing->json, "state", state_name(member->state));
    json_unsigned(listing->json, "pid", member->pid);
    json_unsigned(listing->json, "busy", member->busy);
    json_unsigned(listing->json, "queued", member->queued);
    json_unsigned(listing->json, "held", member->held);
    json_unsigned(listing->json, "retrying", member->retrying);
    json_unsigned(listing->json, "restarts", member->restarts);
    if (lease)
        write_lease(listing, lease);
    json_end(listing->json);
}

static void print_member(const struct listing *listing, const struct listed *listed,
                         const struct weir_member *member)
{
    const struct pool_lease *lease = lease_of(listed, member);
    char name[512];
    char holder[HOLDER_NAME_SIZE];

    (void)snprintf(name, sizeof name, "%s#%" PRIu32, listed->path, member->index);
    fprintf(listing->stream,
            "%-28s %-11s %5" PRIu32 " %8" PRIu64 " %6" PRIu64 " %8" PRIu64 " %8" PRIu64, name,
            state_name(member->state), member->busy, member->queued, member->held, member->retrying,
            member->restarts);
    if (lease) {
        holders_name(&listing->holders, lease->holder, holder);
        fprintf(listing->stream, "  leased to %s for %" PRIu64 " ms", holder, lease->age_ms);
    }
    (void)fputc('\n', listing->stream);
}

/* A line with the takers that wait for a worker of the pool. */
static void print_takers(const struct listing *listing, struct pool *pool)
{
    weir_pid takers[TAKERS_MAX + 1];
    uint32_t count = pool_list_takers(pool, takers, TAKERS_MAX + 1);
    char name[HOLDER_NAME_SIZE];

    if (count == 0)
        return;
    fprintf(listing->stream, "%s: takers wait:", pool_path(pool));
    for (uint32_t i = 0; i < count && i < TAKERS_MAX; i++) {
        holders_name(&listing->holders, takers[i], name);
        fprintf(listing->stream, "%s %s", i ? "," : "", name);
    }
    fputs(count > TAKERS_MAX ? ", ...\n" : "\n", listing->stream);
}

void member_list_write_takers_locked(const struct overview *overview, const char *path,
                                     struct json *json)
{
    const struct assembly *assembly = overview->assembly;
    weir_pid takers[TAKERS_MAX];
    uint32_t count = pool_list_takers(
        assembly->pools[settings_find_pool(assembly->shared->settings, path)], takers, TAKERS_MAX);
    char name[HOLDER_NAME_SIZE];
    struct holders holders = { 0 };

    if (count > 0)
        holders_read_locked(overview, &holders);
    json_begin_array(json, "takers");
    for (uint32_t i = 0; i < count; i++) {
        holders_name(&holders, takers[i], name);
        json_text(json, NULL, name);
    }
    json_end(json);
    holders_finish(&holders);
}

static int by_index(const void *left, const void *right)
{
    const struct weir_member *a = left, *b = right;

    return (a->index > b->index) - (a->index < b->index);
}

/* Reserves a few more entries: workers may be leaving. */
static void read_pool(struct pool *pool, struct listed *out)
{
    uint32_t max = pool_members(pool, NULL, sizeof(struct weir_member), 0);

    *out = (struct listed){ .path = pool_path(pool) };
    out->members = calloc((size_t)max + 1, sizeof *out->members);
    out->leases = calloc((size_t)max + 1, sizeof *out->leases);
    if (out->members)
        out->count = pool_members(pool, out->members, sizeof *out->members, max);
    out->count = out->count < max ? out->count : max;
    if (out->leases)
        out->lease_count = pool_list_leases(pool, out->leases, max);
    if (out->members)
        qsort(out->members, out->count, sizeof *out->members, by_index);
    if (out->leases)
        qsort(out->leases, out->lease_count, sizeof *out->leases, by_member);
}

/* Without memory the pool is left out. */
static void list_pool(const struct listing *listing, struct pool *pool)
{
    struct listed listed;

    read_pool(pool, &listed);
    for (uint32_t i = 0; i < listed.count; i++)
        if (listing->json)
            write_member(listing, &listed, &listed.members[i]);
        else
            print_member(listing, &listed, &listed.members[i]);
    if (!listing->json)
        print_takers(listing, pool);
    free(listed.members);
    free(listed.leases);
}

static bool is_meant(const char *path, const char *wanted)
{
    size_t length = wanted ? strlen(wanted) : 0;

    return !wanted ||
           (strncmp(path, wanted, length) == 0 && (!path[length] || path[length] == '/'));
}

static void list_pools_locked(const struct overview *overview, const char *wanted,
                              const struct listing *listing)
{
    const struct settings *settings = overview->assembly->shared->settings;

    for (uint32_t i = 0; i < settings->pool_count; i++)
        if (!settings->pools[i].nested && is_meant(settings->pools[i].path, wanted))
            list_pool(listing, overview->assembly->pools[i]);
}

static void list_all_locked(const struct overview *overview, const char *path, bool for_people,
                            FILE *stream)
{
    struct json json = { 0 };
    struct listing listing = { .json = for_people ? NULL : &json, .stream = stream };

    holders_read_locked(overview, &listing.holders);
    if (for_people) {
        fprintf(stream, "%-28s %-11s %5s %8s %6s %8s %8s\n", "WORKER", "STATE", "BUSY", "QUEUED",
                "HELD", "RETRYING", "RESTARTS");
        list_pools_locked(overview, path, &listing);
    } else {
        json_init(&json, stream);
        json_begin_array(&json, NULL);
        list_pools_locked(overview, path, &listing);
        json_end(&json);
        json_finish(&json);
    }
    holders_finish(&listing.holders);
}

bool member_list_write(const struct overview *overview, const char *path, bool for_people,
                       FILE *stream)
{
    bool found;

    lock_acquire(&overview->assembly->lock);
    found = !path ||
            settings_find_pool(overview->assembly->shared->settings, path) != SETTINGS_NONE;
    if (found)
        list_all_locked(overview, path, for_people, stream);
    lock_release(&overview->assembly->lock);
    return found;
}
