#include "host/pages/member_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/json.h"

/* Where the lines go: JSON when `json` is set, else the stream. */
struct listing {
    struct json *json;
    FILE *stream;
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

static void write_member(const struct listing *listing, const char *path,
                         const struct weir_member *member)
{
    json_begin_object(listing->json, NULL);
    json_text(listing->json, "pool", path);
    json_unsigned(listing->json, "worker", member->index);
    json_text(listing->json, "state", state_name(member->state));
    json_unsigned(listing->json, "pid", member->pid);
    json_unsigned(listing->json, "busy", member->busy);
    json_unsigned(listing->json, "queued", member->queued);
    json_unsigned(listing->json, "held", member->held);
    json_unsigned(listing->json, "retrying", member->retrying);
    json_unsigned(listing->json, "restarts", member->restarts);
    json_end(listing->json);
}

static void print_member(const struct listing *listing, const char *path,
                         const struct weir_member *member)
{
    char name[512];

    (void)snprintf(name, sizeof name, "%s#%" PRIu32, path, member->index);
    fprintf(listing->stream,
            "%-28s %-11s %5" PRIu32 " %8" PRIu64 " %6" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n", name,
            state_name(member->state), member->busy, member->queued, member->held, member->retrying,
            member->restarts);
}

static int by_index(const void *left, const void *right)
{
    const struct weir_member *a = left, *b = right;

    return (a->index > b->index) - (a->index < b->index);
}

/* Without memory the pool is left out. Reserves a few more entries: workers may be leaving. */
static void list_pool(const struct listing *listing, struct pool *pool)
{
    uint32_t max = pool_members(pool, NULL, sizeof(struct weir_member), 0);
    struct weir_member *members = calloc((size_t)max + 1, sizeof *members);
    uint32_t count = members ? pool_members(pool, members, sizeof *members, max) : 0;

    count = count < max ? count : max;
    if (members)
        qsort(members, count, sizeof *members, by_index);
    for (uint32_t i = 0; i < count; i++)
        if (listing->json)
            write_member(listing, pool_path(pool), &members[i]);
        else
            print_member(listing, pool_path(pool), &members[i]);
    free(members);
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
    const struct settings *settings = overview->assembly->held->settings;

    for (uint32_t i = 0; i < settings->pool_count; i++)
        if (!settings->pools[i].nested && is_meant(settings->pools[i].path, wanted))
            list_pool(listing, overview->assembly->pools[i]);
}

static void list_all_locked(const struct overview *overview, const char *path, bool for_people,
                            FILE *stream)
{
    struct json json = { 0 };
    struct listing listing = { .json = for_people ? NULL : &json, .stream = stream };

    if (for_people) {
        fprintf(stream, "%-28s %-11s %5s %8s %6s %8s %8s\n", "WORKER", "STATE", "BUSY", "QUEUED",
                "HELD", "RETRYING", "RESTARTS");
        list_pools_locked(overview, path, &listing);
        return;
    }
    json_init(&json, stream);
    json_begin_array(&json, NULL);
    list_pools_locked(overview, path, &listing);
    json_end(&json);
    json_finish(&json);
}

bool member_list_write(const struct overview *overview, const char *path, bool for_people,
                       FILE *stream)
{
    bool found;

    pthread_mutex_lock(&overview->assembly->lock);
    found = !path || settings_find_pool(overview->assembly->held->settings, path) != SETTINGS_NONE;
    if (found)
        list_all_locked(overview, path, for_people, stream);
    pthread_mutex_unlock(&overview->assembly->lock);
    return found;
}
