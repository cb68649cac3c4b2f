/*
 * Goal: the settings of a pool, a source, a dispatcher or the host are in force in the running
 * parts, from the start on, after a reload that changes them, and after one that takes the change
 * back. Shows promise C12.
 *
 * Method: a host is written down as text, from the structs that its threads read, and compared with
 * the file. Two files differ in every value; each value of a list of choices has a pool of its own,
 * and a reload gives it the next one.
 */
#include <stdlib.h>
#include <string.h>

#include "actor/events.h"
#include "pool/outlet.h"

#include "unit/host/suite.h"
#include "unit/host/workspace.h"
#include "unit/reload/hosted.h"

#define HEAD "version: 1\nhost: {plugins: [\"" TEST_PLUGINS "\"]"

struct fixture {
    struct workspace workspace;
    struct hosted hosted;
    char file[256];
};

static void write_file(struct fixture *f, const char *text)
{
    workspace_write(f->file, text, strlen(text));
}

static bool is_settled(void *context)
{
    const struct assembly *assembly = &((struct hosted *)context)->assembly;

    for (uint32_t i = 0; i < assembly->shared->settings->pool_count; i++) {
        struct weir_pool_stats stats = { .size = sizeof stats };

        pool_stats(assembly->pools[i], &stats);
        if (stats.live != stats.target || stats.starting + stats.retiring > 0)
            return false;
    }
    return true;
}

static void begin(struct fixture *f, const char *text)
{
    workspace_init(&f->workspace);
    (void)workspace_path(&f->workspace, "weir.yaml", f->file);
    write_file(f, text);
    hosted_start(&f->hosted, f->file, NULL);
    CU_ASSERT_TRUE_FATAL(hosted_wait(&f->hosted, is_settled, &f->hosted));
}

static void reload_to(struct fixture *f, const char *text)
{
    struct hosted_answer answer;

    write_file(f, text);
    hosted_reload(&f->hosted, &answer);
    CU_ASSERT_EQUAL_FATAL(answer.status, 0);
    CU_ASSERT_TRUE_FATAL(hosted_wait(&f->hosted, is_settled, &f->hosted));
}

static void finish(struct fixture *f)
{
    hosted_stop(&f->hosted);
    workspace_finish(&f->workspace);
}

/* --- what is in force ------------------------------------------------------------------------- */

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

static void show_pool(struct hosted *hosted, FILE *out, struct pool *pool)
{
    const struct wiring *wiring;

    pthread_mutex_lock(&pool->lock);
    fprintf(out, "pool %s size %u in %u..%u clamps %d limit %u bytes %ju route %u\n", pool->path,
            pool->target, pool->settings.size_min, pool->settings.size_max, pool->settings.clamp,
            pool->settings.mailbox, (uintmax_t)pool->settings.mailbox_bytes,
            atomic_load(&pool->route));
    fprintf(out, "  remove %d in %ju manager %d on %s dead letters %u, %ju\n",
            (int)pool->settings.remove.mode, (uintmax_t)pool->settings.remove.timeout_ms,
            pool->has_manager, pool->actor->dispatcher->name, pool->dead.bounds.count,
            (uintmax_t)pool->dead.bounds.bytes);
    fprintf(out, "  events %u ", events_subscribed(pool->runtime, pool->pid));
    if (pool->spec)
        show_spec(out, pool->spec);
    else
        show_restart(out, &pool->settings.restart);
    wiring = pool->spec ? atomic_load(&outlet_present(&pool->outlets)->wiring) : NULL;
    for (uint32_t i = 0; wiring && i < wiring->count; i++)
        fprintf(out, "  output %s when full %d\n", path_of(hosted, wiring->bindings[i].target),
                (int)wiring->bindings[i].when_full);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next)
        show_worker(out, LIST_ENTRY(node, struct place, link));
    pthread_mutex_unlock(&pool->lock);
}

static void show_source(struct hosted *hosted, FILE *out, struct source *source)
{
    const struct binding *to = &atomic_load(&source->wiring.wiring)->bindings[0];

    fprintf(out, "source %s to %s when full %d on %s fixed %u dead letters %u, %ju\n", source->path,
            path_of(hosted, to->target), (int)to->when_full, source->actor->dispatcher->name,
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
        show_pool(hosted, out, assembly->pools[i]);
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

static const char plain[] =
    "dispatcher side threads 1 budget 9\n"
    "source feed to nest when full 0 on default fixed 1 dead letters 1000, 16777216\n"
    "pool all size 1 in 0..0 clamps 0 limit 64 bytes 0 route 0\n"
    "  remove 0 in 30000 manager 0 on default dead letters 1000, 16777216\n"
    "  events 0 use changeling.worker fixed 1 redeliver 0 "
    "restart 5 within 10000 backoff 100..10000 then 0\n"
    "  output - when full 0\n"
    "  worker limit 64 bytes 0 on default\n"
    "pool nest size 0 in 0..0 clamps 0 limit 0 bytes 0 route 0\n"
    "  remove 0 in 0 manager 0 on default dead letters 1000, 16777216\n"
    "  events 0 restart 5 within 10000 backoff 100..10000 then 2\n"
    "pool nest/m size 1 in 0..0 clamps 0 limit 64 bytes 0 route 0\n"
    "  remove 0 in 30000 manager 0 on default dead letters 1000, 16777216\n"
    "  events 0 use changeling.worker fixed 1 redeliver 0 "
    "restart 5 within 10000 backoff 100..10000 then 0\n"
    "  output - when full 0\n"
    "  worker limit 64 bytes 0 on default\n";

static const char full_file[] = HEAD
    ", memory: 1GiB, dead_letters: {count: 7, bytes: 1MiB}}\n"
    "dispatchers: {side: {threads: 3, budget: 4}}\n"
    "sources: {feed: {use: changeling.source, to: all, when_full: reject, dispatcher: side,\n"
    "                 args: {fixed: 6}}}\n"
    "pools:\n"
    "  all: {use: changeling.pass, args: {fixed: 3}, size: {min: 2, max: 6}, clamp: true,\n"
    "    mailbox: 9, mailbox_bytes: 2MiB, route: least_loaded, dispatcher: side,\n"
    "    outputs: {out: {to: nest, when_full: drop_newest}},\n"
    "    restart: {max: 3, within: 11s, backoff: 2s..7s, then: stop},\n"
    "    remove: {mode: reroute, timeout: 13s}, redeliver: 2,\n"
    "    manager: changeling.manager, subscribe: [news]}\n"
    "  nest: {route: random, restart: {max: 2, within: 12s, backoff: 1s..3s, then: keep_trying},\n"
    "    manager: changeling.manager, subscribe: [news, weather],\n"
    "    members: {m: {use: changeling.worker, size: 1}}}\n";

static const char full[] =
    "dispatcher side threads 3 budget 4\n"
    "source feed to all when full 1 on side fixed 6 dead letters 7, 1048576\n"
    "pool all size 2 in 2..6 clamps 1 limit 9 bytes 2097152 route 1\n"
    "  remove 1 in 13000 manager 1 on default dead letters 7, 1048576\n"
    "  events 1 use changeling.pass fixed 3 redeliver 2 "
    "restart 3 within 11000 backoff 2000..7000 then 1\n"
    "  output nest when full 2\n"
    "  worker limit 9 bytes 2097152 on side\n"
    "  worker limit 9 bytes 2097152 on side\n"
    "pool nest size 0 in 0..0 clamps 0 limit 0 bytes 0 route 2\n"
    "  remove 0 in 0 manager 1 on default dead letters 7, 1048576\n"
    "  events 2 restart 2 within 12000 backoff 1000..3000 then 0\n"
    "pool nest/m size 1 in 0..0 clamps 0 limit 64 bytes 0 route 0\n"
    "  remove 0 in 30000 manager 0 on default dead letters 7, 1048576\n"
    "  events 0 use changeling.worker fixed 1 redeliver 0 "
    "restart 5 within 10000 backoff 100..10000 then 0\n"
    "  output - when full 0\n"
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

/* --- choices ---------------------------------------------------------------------------------- */

/* The choices of one key, and the number of each in the runtime. */
struct key {
    const char *before; /* the lines of the pool around the choice */
    const char *after;
    const char *choices[16];
    uint32_t (*in_force)(struct pool *pool);
};

static uint32_t route_of(struct pool *pool)
{
    return atomic_load(&pool->route);
}

static uint32_t removal_of(struct pool *pool)
{
    return (uint32_t)pool->settings.remove.mode;
}

static uint32_t then_of(struct pool *pool)
{
    return (uint32_t)pool->spec->restart.then;
}

static uint32_t fullness_of(struct pool *pool)
{
    return (uint32_t)atomic_load(&outlet_present(&pool->outlets)->wiring)->bindings[0].when_full;
}

#define WORD(name, number, word) [number] = (word),
static const struct key keys[] = {
    { "route: ", "", { WEIR_ROUTE_LIST(WORD) }, route_of },
    { "remove: {mode: ", "}", { WEIR_REMOVE_LIST(WORD) }, removal_of },
    { "restart: {then: ", "}", { "keep_trying", "stop", "escalate" }, then_of },
    { "outputs: {out: {to: end, when_full: ", "}}", { WEIR_FULL_LIST(WORD) }, fullness_of },
};
#undef WORD

static uint32_t count_of(const struct key *key)
{
    uint32_t count = 0;

    while (key->choices[count])
        count++;
    return count;
}

/* Pool K of a key has its choice number K + `turn`, round. */
static void write_choices(char *text, size_t size, uint32_t turn)
{
    FILE *out = fmemopen(text, size, "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fprintf(out, HEAD "}\npools:\n  end: {use: changeling.worker, size: 1}\n");
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        for (uint32_t i = 0; i < count_of(&keys[k]); i++) {
            const char *choice = keys[k].choices[(i + turn) % count_of(&keys[k])];

            fprintf(out, "  p%zu-%u: {use: changeling.worker, size: 1, %s%s%s}\n", k, i,
                    keys[k].before, choice, keys[k].after);
        }
    fclose(out);
}

static void expect_choices(struct fixture *f, uint32_t turn)
{
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        for (uint32_t i = 0; i < count_of(&keys[k]); i++) {
            struct pool *pool;
            char path[16];

            (void)snprintf(path, sizeof path, "p%zu-%u", k, i);
            pool = hosted_pool(&f->hosted, path);
            CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
            CU_ASSERT_EQUAL(keys[k].in_force(pool), (i + turn) % count_of(&keys[k]));
        }
}

/* promises C12 and R3 */
static void test_each_choice_is_in_force(void)
{
    struct fixture f;
    char text[4096];

    write_choices(text, sizeof text, 0);
    begin(&f, text);
    expect_choices(&f, 0);
    for (uint32_t turn = 1; turn < 6; turn++) {
        write_choices(text, sizeof text, turn);
        reload_to(&f, text);
        expect_choices(&f, turn);
    }
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "from the start", test_what_the_file_says_is_in_force_from_the_start },
        { "after a reload", test_what_a_reload_says_is_in_force_after_it },
        { "each choice", test_each_choice_is_in_force },
        CU_TEST_INFO_NULL,
    };

    return suite_run("in force", tests);
}
