/* SPDX-License-Identifier: MIT */
#include "host/pages/member_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/plural.h"
#include "config/json.h"
#include "host/pages/holders.h"
#include "host/pages/process_figures.h"

#define TAKERS_MAX 16 /* that are named */
#define NAME_WIDTH 28 /* the other columns have 72: COLUMNS_PAGE in all */

/* Where the lines go: JSON when `json` is set, else the stream. */
struct listing {
    struct turn_watch *watch; /* may be NULL */
    struct json *json;
    FILE *stream;
    struct holders holders;
    uint32_t from; /* of each pool: the first number of a worker */
    uint32_t left; /* so many more workers have room in the answer */
};

/* The members of one pool, and the open leases, sorted by member. */
struct listed {
    struct pool *pool;
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

/* Its end may have reaped it already. */
static void write_process(const struct listing *listing, const struct weir_member *member)
{
    struct process_figures figures;

    if (!process_figures_read(member->process, &figures))
        return;
    json_begin_object(listing->json, "process");
    json_unsigned(listing->json, "pid", (uint64_t)member->process);
    json_unsigned(listing->json, "memory_bytes", figures.memory);
    json_unsigned(listing->json, "cpu_ms", figures.cpu_ms);
    json_unsigned(listing->json, "age_ms", figures.age_ms);
    json_end(listing->json);
}

static void write_member(const struct listing *listing, const struct listed *listed,
                         const struct weir_member *member)
{
    const struct pool_lease *lease = lease_of(listed, member);
    struct slow_turn turn;

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
    json_unsigned(listing->json, "in_hand", member->in_hand);
    json_unsigned(listing->json, "hand_ms", member->hand_ms);
    write_process(listing, member);
    if (lease)
        write_lease(listing, lease);
    if (turn_watch_find(listing->watch, listed->pool, member->index, member->pid, &turn))
        slow_turn_write(&turn, listing->json);
    json_end(listing->json);
}

/* `-` in the columns of what the worker does not have. */
static void print_process(const struct listing *listing, const struct weir_member *member)
{
    struct process_figures figures;
    char memory[COLUMNS_CELL], cpu[COLUMNS_CELL];

    if (!process_figures_read(member->process, &figures)) {
        fprintf(listing->stream, " %7s %6s %6s\n", "-", "-", "-");
        return;
    }
    columns_size(figures.memory, memory, sizeof memory);
    columns_age(figures.cpu_ms, cpu, sizeof cpu);
    fprintf(listing->stream, " %7" PRId64 " %6s %6s\n", member->process, memory, cpu);
}

static void print_lease(const struct listing *listing, const struct pool_lease *lease)
{
    char holder[HOLDER_NAME_SIZE], age[COLUMNS_CELL];

    holders_name(&listing->holders, lease->holder, holder);
    columns_age(lease->age_ms, age, sizeof age);
    fprintf(listing->stream, "    leased to %s for %s\n", holder, age);
}

/* They are the part of HELD that an operator waits for. */
static void print_retrying(const struct listing *listing, const struct weir_member *member)
{
    if (member->retrying > 0)
        fprintf(listing->stream, "    %" PRIu64 " %s for a retry\n", (uint64_t)member->retrying,
                plural(member->retrying, "message waits", "messages wait"));
}

/* A worker in a callback that takes long. */
static void print_stuck(const struct listing *listing, const struct listed *listed,
                        const struct weir_member *member)
{
    struct slow_turn turn;
    char text[SLOW_TURN_TEXT];

    if (!turn_watch_find(listing->watch, listed->pool, member->index, member->pid, &turn))
        return;
    slow_turn_describe(&turn, text, sizeof text);
    fprintf(listing->stream, "    %s\n", text);
}

/* `pool#3`; a long pool is cut in its middle, and the number stays. */
static void print_name(const struct listing *listing, const char *path, uint32_t index)
{
    char number[16], cut[4 * NAME_WIDTH + 1];

    (void)snprintf(number, sizeof number, "#%" PRIu32, index);
    columns_cut(path, NAME_WIDTH - strlen(number), cut, sizeof cut);
    fprintf(listing->stream, "%s%-*s", cut, NAME_WIDTH - (int)columns_width(cut), number);
}

static void print_member(const struct listing *listing, const struct listed *listed,
                         const struct weir_member *member)
{
    const struct pool_lease *lease = lease_of(listed, member);
    char in_hand[COLUMNS_CELL], age[COLUMNS_CELL] = "-", queued[COLUMNS_CELL];
    char held[COLUMNS_CELL], restarts[COLUMNS_CELL];

    columns_count(member->in_hand, in_hand, sizeof in_hand);
    if (member->in_hand > 0)
        columns_age(member->hand_ms, age, sizeof age);
    columns_count(member->queued, queued, sizeof queued);
    columns_count(member->held, held, sizeof held);
    columns_count(member->restarts, restarts, sizeof restarts);
    print_name(listing, listed->path, member->index);
    fprintf(listing->stream, " %-11s %7s %6s %6s %5s %8s", state_name(member->state), in_hand, age,
            queued, held, restarts);
    print_process(listing, member);
    if (lease)
        print_lease(listing, lease);
    print_retrying(listing, member);
    print_stuck(listing, listed, member);
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

    *out = (struct listed){ .pool = pool, .path = pool_path(pool) };
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

/* Says that workers are left out, and how to get them. */
static void list_rest(const struct listing *listing, const struct listed *listed, uint32_t index)
{
    uint32_t more = listed->count - index;
    uint32_t next = listed->members[index].index;

    if (listing->json) {
        json_begin_object(listing->json, NULL);
        json_text(listing->json, "pool", listed->path);
        json_unsigned(listing->json, "more", more);
        json_unsigned(listing->json, "from", next);
        json_end(listing->json);
        return;
    }
    fprintf(listing->stream,
            "%s: %" PRIu32 " more %s: `weir status --members --from %" PRIu32 " %s`\n",
            listed->path, more, plural(more, "worker", "workers"), next, listed->path);
}

/* Without memory the pool is left out. */
static void list_pool(struct listing *listing, struct pool *pool)
{
    struct listed listed;

    read_pool(pool, &listed);
    for (uint32_t i = 0; i < listed.count; i++) {
        if (listed.members[i].index < listing->from)
            continue;
        if (listing->left == 0) {
            list_rest(listing, &listed, i);
            break;
        }
        listing->left--;
        if (listing->json)
            write_member(listing, &listed, &listed.members[i]);
        else
            print_member(listing, &listed, &listed.members[i]);
    }
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
                              struct listing *listing)
{
    const struct settings *settings = overview->assembly->shared->settings;

    for (uint32_t i = 0; i < settings->pool_count; i++)
        if (!settings->pools[i].nested && is_meant(settings->pools[i].path, wanted))
            list_pool(listing, overview->assembly->pools[i]);
}

static void print_all_locked(const struct overview *overview, const char *path,
                             struct listing *listing, FILE *stream)
{
    char *text = NULL;
    size_t size = 0;

    listing->stream = open_memstream(&text, &size);
    if (!listing->stream)
        return;
    fprintf(listing->stream, "%-*s %-11s %7s %6s %6s %5s %8s %7s %6s %6s\n", NAME_WIDTH, "WORKER",
            "STATE", "IN HAND", "AGE", "QUEUED", "HELD", "RESTARTS", "PROCESS", "MEMORY", "CPU");
    list_pools_locked(overview, path, listing);
    if (fclose(listing->stream) == 0)
        columns_fold(text, stream);
    free(text);
}

static void list_all_locked(const struct overview *overview, const struct member_list_part *part,
                            bool for_people, FILE *stream)
{
    struct json json = { 0 };
    struct listing listing = { .watch = overview->supervisor->turn_watch,
                               .json = for_people ? NULL : &json,
                               .from = part->from,
                               .left = MEMBER_LIST_MAX };

    holders_read_locked(overview, &listing.holders);
    if (for_people) {
        print_all_locked(overview, part->path, &listing, stream);
    } else {
        json_init(&json, stream);
        json_begin_array(&json, NULL);
        list_pools_locked(overview, part->path, &listing);
        json_end(&json);
        json_finish(&json);
    }
    holders_finish(&listing.holders);
}

bool member_list_write(const struct overview *overview, const struct member_list_part *part,
                       bool for_people, FILE *stream)
{
    bool found;

    lock_acquire(&overview->assembly->lock);
    found = !part->path ||
            settings_find_pool(overview->assembly->shared->settings, part->path) != SETTINGS_NONE;
    if (found)
        list_all_locked(overview, part, for_people, stream);
    lock_release(&overview->assembly->lock);
    return found;
}
