/* SPDX-License-Identifier: MIT */
/*
 * Goal: the settings of a pool, a source, a dispatcher or the host are in force in the running
 * parts, from the start on, after a reload that changes them, and after one that takes the change
 * back. Shows promise C12.
 *
 * Method: a host is written down as text, from the structs that its threads read, and compared with
 * the file. Two files differ in every value; each choice at a full target has a source and a pool
 * of its own, and a reload gives them the next one. Each choice of the other keys is in
 * test_keys_in_force.c; the levels of the log are in tests/system/reload and tests/system/control.
 */
#include <stdlib.h>
#include <string.h>

#include "actor/event.h"
#include "pool/outlet.h"

#include "unit/host/suite.h"
#include "unit/reload/in_force.h"

/* --- values in force -------------------------------------------------------------------------- */

static const char *path_of(struct hosted *hosted, weir_pid pid)
{
    const struct assembly *assembly = &hosted->assembly;

    for (uint32_t i = 0; i < assembly->shared->settings->pool_count; i++)
        if (assembly->pools[i]->pid == pid)
            return assembly->pools[i]->path;
    return "-";
}

static void show_restart(FILE *out, const struct restart *restart)
{
    fprintf(out, "restart %u within %ju backoff %ju..%ju then %d\n", restart->max,
            (uintmax_t)restart->within_ms, (uintmax_t)restart->backoff_ms_min,
            (uintmax_t)restart->backoff_ms_max, (int)restart->then);
}

static void show_binding(struct hosted *hosted, FILE *out, const struct wiring *wiring, uint32_t i)
{
    const struct binding *to = &wiring->bindings[i];
    struct rate none = { 0 };
    const struct rate *rate = wiring->throttles ? &wiring->throttles[i].rate : &none;

    fprintf(out, "to %s when full %d rate %u in %ju burst %u", path_of(hosted, to->target),
            (int)to->when_full, rate->messages, (uintmax_t)rate->per_ms, rate->burst);
}

/* Its events, and those that go to every member. */
static void show_events(FILE *out, struct pool *pool)
{
    struct events *events = &pool->runtime->events;
    const struct participant *participant;
    uint32_t count = 0;
    uint32_t fan_out = 0;

    lock_acquire(&events->lock);
    participant = participant_find_locked(events, pool->pid);
    for (struct list *node = participant ? participant->subscribers.next : NULL;
         node && node != &participant->subscribers; node = node->next) {
        const struct subscriber *subscriber = LIST_ENTRY(node, struct subscriber, link);

        count += subscriber->is_live;
        fan_out += subscriber->is_live && atomic_load(&subscriber->fan_out);
    }
    lock_release(&events->lock);
    fprintf(out, "  events %u to all %u ", count, fan_out);
}

static void show_worker(FILE *out, const struct place *place)
{
    const struct mailbox *mailbox = &place->actor->mailbox;

    fprintf(out, "  worker limit %u bytes %ju on %s\n", atomic_load(&mailbox->limit),
            (uintmax_t)atomic_load(&mailbox->bytes_limit), place->actor->dispatcher->name);
}

static void show_spec(FILE *out, const struct spec *spec)
{
    fprintf(out, "use %s.%s fixed %u redeliver %u ", spec->plugin, spec->behaviour->name,
            ((const uint32_t *)spec->settings)[1], spec->redeliver_max);
    show_restart(out, &spec->restart);
}

/* `opens` is what the host reads when it opens workers. */
static void show_pool(struct hosted *hosted, FILE *out, struct pool *pool,
                      const struct settings_pool *opens)
{
    const struct wiring *wiring;

    lock_acquire(&pool->lock);
    fprintf(out, "pool %s size %u in %u..%u clamps %d limit %u bytes %ju route %u\n", pool->path,
            pool->target, pool->settings.size_min, pool->settings.size_max, pool->settings.clamp,
            pool->settings.mailbox, (uintmax_t)pool->settings.mailbox_bytes,
            flags_route(&pool->flags));
    fprintf(out, "  remove %d in %ju manager %d on %s dead letters %u, %ju\n",
            (int)pool->settings.remove.mode, (uintmax_t)pool->settings.remove.timeout_ms,
            pool->has_manager, pool->actor->dispatcher->name, pool->dead.bounds.count,
            (uintmax_t)pool->dead.bounds.bytes);
    fprintf(out, "  opens in %ju at least %u scales %d leases %d\n",
            (uintmax_t)pool->settings.open_timeout_ms, opens->min_ready, pool->settings.scale.on,
            pool->settings.lease.on && leases_are_given(&pool->leases));
    show_events(out, pool);
    if (pool->spec)
        show_spec(out, pool->spec);
    else
        show_restart(out, &pool->settings.restart);
    wiring = pool->spec ? atomic_load(&outlet_present(&pool->outlets)->wiring) : NULL;
    for (uint32_t i = 0; wiring && i < wiring->count; i++) {
        fprintf(out, "  output ");
        show_binding(hosted, out, wiring, i);
        fprintf(out, "\n");
    }
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next)
        show_worker(out, LIST_ENTRY(node, struct place, link));
    lock_release(&pool->lock);
}

static void show_source(struct hosted *hosted, FILE *out, struct source *source)
{
    fprintf(out, "source %s ", source->path);
    show_binding(hosted, out, atomic_load(&source->wiring.wiring), 0);
    fprintf(out, " on %s fixed %u dead letters %u, %ju\n", source->actor->dispatcher->name,
            ((const uint32_t *)source->actor->spec->settings)[1], source->dead.bounds.count,
            (uintmax_t)source->dead.bounds.bytes);
}

static void show_dispatchers(FILE *out, const struct runtime *runtime)
{
    for (uint32_t i = 0; i < atomic_load(&runtime->dispatcher_count); i++) {
        const struct dispatcher *dispatcher = runtime->dispatchers[i];

        if (strcmp(dispatcher->name, "side") == 0)
            fprintf(out, "dispatcher side threads %u budget %u\n",
                    atomic_load(&dispatcher->thread_count), atomic_load(&dispatcher->budget));
    }
}

static char *show_all(struct hosted *hosted)
{
    const struct assembly *assembly = &hosted->assembly;
    const struct settings *settings = assembly->shared->settings;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    show_dispatchers(out, hosted->runtime);
    for (uint32_t i = 0; i < settings->source_count; i++)
        show_source(hosted, out, assembly->sources[i]);
    for (uint32_t i = 0; i < settings->pool_count; i++)
        show_pool(hosted, out, assembly->pools[i], &settings->pools[i]);
    fclose(out);
    return text;
}

static void expect(struct fixture *f, const char *expected)
{
    char *shown = show_all(&f->hosted);

    if (strcmp(shown, expected) != 0)
        printf("\n--- in force:\n%s--- in the file:\n%s", shown, expected);
    CU_ASSERT_STRING_EQUAL(shown, expected);
    free(shown);
}

/* --- two files that differ in everything ------------------------------------------------------ */

static const char plain_file[] = HEAD "}\n"
                                      "dispatchers: {side: {threads: 1, budget: 9}}\n"
                                      "sources: {feed: {use: changeling.source, to: nest}}\n"
                                      "pools:\n"
                                      "  all: {use: changeling.worker, size: 1}\n"
                                      "  nest: {members: {m: {use: changeling.worker, size: 1}}}\n";

static const char plain[] = "dispatcher side threads 1 budget 9\n"
                            "source feed to nest when full 0 rate 0 in 0 burst 0 on default fixed "
                            "1 dead letters 1000, 16777216\n"
                            "pool all size 1 in 0..0 clamps 0 limit 64 bytes 0 route 0\n"
                            "  remove 0 in 30000 manager 0 on default dead letters 1000, 16777216\n"
                            "  opens in 10000 at least 65536 scales 0 leases 0\n"
                            "  events 0 to all 0 use changeling.worker fixed 1 redeliver 0 "
                            "restart 5 within 10000 backoff 100..10000 then 0\n"
                            "  output to - when full 0 rate 0 in 0 burst 0\n"
                            "  worker limit 64 bytes 0 on default\n"
                            "pool nest size 0 in 0..0 clamps 0 limit 0 bytes 0 route 0\n"
                            "  remove 0 in 0 manager 0 on default dead letters 1000, 16777216\n"
                            "  opens in 0 at least 0 scales 0 leases 0\n"
                            "  events 0 to all 0 restart 5 within 10000 backoff 100..10000 then 2\n"
                            "pool nest/m size 1 in 0..0 clamps 0 limit 64 bytes 0 route 0\n"
                            "  remove 0 in 30000 manager 0 on default dead letters 1000, 16777216\n"
                            "  opens in 10000 at least 65536 scales 0 leases 0\n"
                            "  events 0 to all 0 use changeling.worker fixed 1 redeliver 0 "
                            "restart 5 within 10000 backoff 100..10000 then 0\n"
                            "  output to - when full 0 rate 0 in 0 burst 0\n"
                            "  worker limit 64 bytes 0 on default\n";

static const char full_file[] = HEAD
    ", memory: 1GiB, dead_letters: {count: 7, bytes: 1MiB}}\n"
    "dispatchers: {side: {threads: 3, budget: 4}}\n"
    "sources: {feed: {use: changeling.source, to: all, when_full: reject, dispatcher: side,\n"
    "                 args: {fixed: 6},\n"
    "                 rate: {messages: 7, per: 2s, burst: 3}}}\n"
    "pools:\n"
    "  all: {use: changeling.pass, args: {fixed: 3}, size: {min: 2, max: 6}, clamp: true,\n"
    "    mailbox: 9, mailbox_bytes: 2MiB, route: least_loaded, dispatcher: side,\n"
    "    outputs: {out: {to: nest, when_full: drop_newest, rate: 9/s}},\n"
    "    restart: {max: 3, within: 11s, backoff: 2s..7s, then: stop},\n"
    "    remove: {mode: reroute, timeout: 13s}, redeliver: 2,\n"
    "    scale: {wait: 1h}, min_ready: 1, open_timeout: 14s,\n"
    "    manager: changeling.manager, subscribe: [news], fan_out: true}\n"
    "  nest: {route: random, restart: {max: 2, within: 12s, backoff: 1s..3s, then: keep_trying},\n"
    "    manager: changeling.manager, subscribe: [news, weather],\n"
    "    members: {m: {use: changeling.worker, size: 1, lease: {}}}}\n";

static const char full[] = "dispatcher side threads 3 budget 4\n"
                           "source feed to all when full 1 rate 7 in 2000 burst 3 on side fixed 6 "
                           "dead letters 7, 1048576\n"
                           "pool all size 2 in 2..6 clamps 1 limit 9 bytes 2097152 route 1\n"
                           "  remove 1 in 13000 manager 1 on default dead letters 7, 1048576\n"
                           "  opens in 14000 at least 1 scales 1 leases 0\n"
                           "  events 1 to all 1 use changeling.pass fixed 3 redeliver 2 "
                           "restart 3 within 11000 backoff 2000..7000 then 1\n"
                           "  output to nest when full 2 rate 9 in 1000 burst 1\n"
                           "  worker limit 9 bytes 2097152 on side\n"
                           "  worker limit 9 bytes 2097152 on side\n"
                           "pool nest size 0 in 0..0 clamps 0 limit 0 bytes 0 route 2\n"
                           "  remove 0 in 0 manager 1 on default dead letters 7, 1048576\n"
                           "  opens in 0 at least 0 scales 0 leases 0\n"
                           "  events 2 to all 0 restart 2 within 12000 backoff 1000..3000 then 0\n"
                           "pool nest/m size 1 in 0..0 clamps 0 limit 64 bytes 0 route 4\n"
                           "  remove 0 in 30000 manager 0 on default dead letters 7, 1048576\n"
                           "  opens in 10000 at least 65536 scales 0 leases 1\n"
                           "  events 0 to all 0 use changeling.worker fixed 1 redeliver 0 "
                           "restart 5 within 10000 backoff 100..10000 then 0\n"
                           "  output to - when full 0 rate 0 in 0 burst 0\n"
                           "  worker limit 64 bytes 0 on default\n";

/* promise C12 */
static void test_what_the_file_says_is_in_force_from_the_start(void)
{
    struct fixture f;

    begin(&f, full_file);
    expect(&f, full);
    finish(&f);
}

/* promises C12 and R3 */
static void test_what_a_reload_says_is_in_force_after_it(void)
{
    struct fixture f;

    begin(&f, plain_file);
    expect(&f, plain);
    reload_to(&f, full_file);
    reload_to(&f, plain_file);
    expect(&f, plain);
    reload_to(&f, full_file);
    expect(&f, full);
    CU_ASSERT_EQUAL(memory_limit(f.hosted.runtime->memory), UINT64_C(1) << 30);
    finish(&f);
}

/* --- what happens at a full target ------------------------------------------------------------ */

#define WORD(name, number, word) [number] = (word),
static const char *const fullness[] = { WEIR_FULL_LIST(WORD) };
#undef WORD
#define FULLNESS (uint32_t)(sizeof fullness / sizeof fullness[0])

/* Source V, and pool V by its output, have the choice number V + `turn`, round. */
static void write_fullness(char *text, size_t size, uint32_t turn)
{
    FILE *out = fmemopen(text, size, "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fprintf(out, HEAD "}\nsources:\n");
    for (uint32_t i = 0; i < FULLNESS; i++)
        fprintf(out, "  s%u: {use: changeling.source, to: end, when_full: %s}\n", i,
                fullness[(i + turn) % FULLNESS]);
    fprintf(out, "pools:\n  end: {use: changeling.worker, size: 1}\n");
    for (uint32_t i = 0; i < FULLNESS; i++)
        fprintf(out,
                "  p%u: {use: changeling.worker, size: 1, outputs: {out: {to: end, when_full: "
                "%s}}}\n",
                i, fullness[(i + turn) % FULLNESS]);
    fclose(out);
}

static uint32_t fullness_of(struct wiring_slot *slot)
{
    return (uint32_t)atomic_load(&slot->wiring)->bindings[0].when_full;
}

/* promises C12 and R3 */
static void test_each_choice_at_a_full_target_is_in_force(void)
{
    struct fixture f;
    char text[4096];

    for (uint32_t turn = 0; turn <= FULLNESS; turn++) {
        write_fullness(text, sizeof text, turn);
        if (turn == 0)
            begin(&f, text);
        else
            reload_to(&f, text);
        for (uint32_t i = 0; i < FULLNESS; i++) {
            struct source *source = f.hosted.assembly.sources[i];
            struct pool *pool = f.hosted.assembly.pools[i + 1];

            CU_ASSERT_EQUAL(fullness_of(&source->wiring), (i + turn) % FULLNESS);
            CU_ASSERT_EQUAL(fullness_of(outlet_present(&pool->outlets)), (i + turn) % FULLNESS);
        }
    }
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "from the start", test_what_the_file_says_is_in_force_from_the_start },
        { "after a reload", test_what_a_reload_says_is_in_force_after_it },
        { "a full target", test_each_choice_at_a_full_target_is_in_force },
        CU_TEST_INFO_NULL,
    };

    return suite_run("in force", tests);
}
