/* SPDX-License-Identifier: MIT */
/*
 * Goal: any failure in a reload before the commit, at any step, leaves the host unchanged: the
 * reload is refused with a reason, leaves nothing behind, and messages are served. Shows promise
 * R12.
 *
 * Method: the nth call of the reloading thread fails, for memory, files, plugins, processes and
 * threads, from n = 1 on until a reload passes without one; after each a portrait of the host is
 * compared with the one before. After a failure past the commit the new shape is complete. Besides,
 * each new worker in turn fails to open.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/host/suite.h"
#include "unit/host/workspace.h"
#include "unit/reload/fault.h"
#include "unit/reload/portrait.h"

#define SWEEP_MAX 100000u /* calls of one reload; there are some thousands */

/* The beginning of all files. */
#define HEAD "version: 1\nhost: {plugins: [\"%s\", \"%s\"], control: \"%s/control\"}\n"

static const char old_file[] = HEAD
    "dispatchers: {side: {threads: 1}}\n"
    "sources:\n"
    "  feed: {use: changeling.source, to: work}\n"
    "  line: {use: changeling.lone_source, to: work}\n"
    "pools:\n"
    "  work: {use: changeling.worker, size: 2, mailbox: 8}\n"
    "  live: {use: changeling.worker, size: 1}\n"
    "  lone: {use: changeling.lone, size: 2}\n"
    "  away: {use: changeling.worker, size: 1, dispatcher: side}\n"
    "  nest: {members: {one: {use: changeling.worker, size: 1},\n"
    "                   two: {use: changeling.worker, size: 1}}}\n"
    "  table: {use: changeling.worker, size: 1}\n"
    "  nests: {use: changeling.worker, size: 2}\n"
    "  rests: {members: {one: {use: changeling.worker, size: 1}}}\n"
    "  copies: {size: 2, pool: {use: changeling.worker, size: 1}}\n";

static const char new_file[] =
    "version: 1\nhost: {plugins: [\"%s\", \"%s\", /nowhere], control: \"%s/moved\", memory: 1GiB}\n"
    "dispatchers: {side: {threads: 3, budget: 4}, extra: {threads: 2}}\n"
    "sources:\n"
    "  feed: {use: changeling.source, to: fresh, args: {fixed: 2}}\n"
    "  line: {use: changeling.lone_source, to: work, args: {fixed: 2}}\n"
    "  more: {use: changeling.source, to: nest}\n"
    "pools:\n"
    "  work: {use: changeling.worker, size: 4, mailbox: 16, mailbox_bytes: 1MiB,\n"
    "    route: least_loaded, outputs: {out: fresh}, args: {fixed: 2}, manager: "
    "changeling.manager,\n"
    "    subscribe: [news, weather], fan_out: true, restart: {max: 9}}\n"
    "  live: {use: changeling.worker, size: 3, args: {live: 2}}\n"
    "  lone: {use: changeling.lone, size: 2, args: {fixed: 2}}\n"
    "  fresh: {use: changeling.worker, size: 2, dispatcher: extra, subscribe: [news]}\n"
    "  nest: {members: {one: {use: changeling.worker, size: 2},\n"
    "                   three: {members: {deep: {use: changeling.worker, size: 1}}}}}\n"
    "  table: {use: changeling.turn, size: 1, outputs: {out: fresh, side: live}}\n"
    "  nests: {manager: changeling.manager, members: {one: {use: changeling.worker, size: 1},\n"
    "                                                 two: {use: changeling.worker, size: 1}}}\n"
    "  rests: {use: changeling.turn, size: 2, subscribe: [news], outputs: {out: nests}}\n"
    "  copies: {members: {first: {use: changeling.worker, size: 1},\n"
    "                     named: {use: changeling.worker, size: 1}}}\n";

/* A pool of a plugin that is new. */
static const char newer_file[] = HEAD
    "dispatchers: {side: {threads: 1}}\n"
    "sources:\n"
    "  feed: {use: changeling.source, to: work}\n"
    "  line: {use: changeling.lone_source, to: work}\n"
    "pools:\n"
    "  work: {use: changeling.worker, size: 2, mailbox: 8}\n"
    "  fresh: {use: sample.pass, size: 1, outputs: {out: work}}\n";

/* More workers of other arguments: one of them, by number, does not open. */
#define NUMBERED_FILE                                                                              \
    HEAD "pools:\n"                                                                                \
         "  work: {use: changeling.worker, size: 4, mailbox: 8, args: {fixed: 2, fails: %u}}\n"    \
         "  nest: {members: {one: {use: changeling.worker, size: 1},\n"                            \
         "                   deep: {members: {new: {use: changeling.worker, size: 1}}}}}\n"

/* Pools of another kind, of which one does not open: that in a pool, or that where pools were. */
#define KINDS_FILE                                                                                 \
    HEAD "pools:\n"                                                                                \
         "  work: {use: changeling.worker, size: 2, mailbox: 8}\n"                                 \
         "  nests: {members: {one: {use: changeling.worker, size: 1, args: {fails: %u}}}}\n"       \
         "  rests: {use: changeling.worker, size: 2, args: {fails: %u}}\n"

struct fixture {
    struct workspace workspace;
    struct hosted hosted;
    char file[256];
};

/* --- helpers -------------------------------------------------------------------------------- */

static void write_file(struct fixture *fixture, const char *format)
{
    char text[4096];
    const char *folder = fixture->workspace.path;
    int size = snprintf(text, sizeof text, format, folder, TEST_PLUGINS, folder);

    CU_ASSERT_FATAL(size > 0 && (size_t)size < sizeof text);
    workspace_write(fixture->file, text, (size_t)size);
}

struct awaited {
    struct hosted *hosted;
    const char *portrait;
    enum portrait_detail detail;
};

static bool looks_so(void *context)
{
    const struct awaited *awaited = context;
    char *present;
    bool same;

    present = portrait_draw(awaited->hosted, awaited->detail);
    same = portrait_matches(awaited->portrait, present);
    free(present);
    return same;
}

/* Waits until the host looks as `portrait`; else prints the difference. */
static bool await_portrait(struct fixture *fixture, const char *portrait,
                           enum portrait_detail detail)
{
    struct awaited awaited = { &fixture->hosted, portrait, detail };
    char *present;

    if (hosted_wait(&fixture->hosted, looks_so, &awaited))
        return true;
    present = portrait_draw(&fixture->hosted, detail);
    portrait_print_difference(portrait, present);
    free(present);
    return false;
}

struct served {
    struct pool *pool;
    uint64_t done;
};

static bool is_served(void *context)
{
    const struct served *served = context;
    struct ledger_reading reading;

    pool_ledger(served->pool, &reading);
    return reading.done > served->done;
}

static bool serves(struct fixture *fixture, const char *path)
{
    struct served served = { .pool = hosted_pool(&fixture->hosted, path) };
    struct ledger_reading reading;

    pool_ledger(served.pool, &reading);
    served.done = reading.done;
    return hosted_send(&fixture->hosted, path) == 0 &&
           hosted_wait(&fixture->hosted, is_served, &served);
}

/* Not in a reload any more, also when that was answered before it was over; and the threads on
 * which it opened have left. */
static bool is_at_rest(void *context)
{
    struct assembly *assembly = context;
    bool changing;

    lock_acquire(&assembly->lock);
    changing = assembly->changing || assembly->drain_count > 0;
    lock_release(&assembly->lock);
    return !changing &&
           atomic_load(&assembly->opener->running) == atomic_load(&assembly->opener->thread_count);
}

static void ask(struct fixture *fixture, struct hosted_answer *out)
{
    hosted_reload(&fixture->hosted, out);
    CU_ASSERT_TRUE_FATAL(hosted_wait(&fixture->hosted, is_at_rest, &fixture->hosted.assembly));
}

static bool is_settled(void *context)
{
    return portrait_is_settled(context);
}

static void settle(struct fixture *fixture)
{
    bool settled = hosted_wait(&fixture->hosted, is_settled, &fixture->hosted);
    char *present = settled ? NULL : portrait_draw(&fixture->hosted, PORTRAIT_SHAPE);

    if (present)
        printf("\nnot settled:\n%s", present);
    free(present);
    CU_ASSERT_TRUE_FATAL(settled);
}

static void set_up(struct fixture *fixture, const char *format, const char *program)
{
    workspace_init(&fixture->workspace);
    (void)workspace_path(&fixture->workspace, "weir.yaml", fixture->file);
    write_file(fixture, format);
    hosted_start(&fixture->hosted, fixture->file, program);
    settle(fixture);
}

static void tear_down(struct fixture *fixture)
{
    hosted_stop(&fixture->hosted);
    workspace_finish(&fixture->workspace);
}

static void reload_to(struct fixture *fixture, const char *format)
{
    struct hosted_answer answer;

    write_file(fixture, format);
    ask(fixture, &answer);
    CU_ASSERT_EQUAL_FATAL(answer.status, 0);
    settle(fixture);
}

/* --- the sweep ------------------------------------------------------------------------------ */

struct sweep {
    struct fixture *fixture;
    uint32_t kinds;
    const char *new_file;
    void (*before_each)(struct fixture *fixture, uint64_t nth); /* or NULL */
    char *old_shape;
    char *new_shape;
    uint64_t refused;
    uint64_t accepted; /* the failure came after the commit, or was compensated */
    uint64_t calls[FAULT_KINDS];
};

#define SAME_LOOKS 3

/* A portrait that several looks in a row agree on. */
struct resting {
    struct hosted *hosted;
    enum portrait_detail detail;
    char *text;
    uint32_t same;
};

static bool looks_as_before(void *context)
{
    struct resting *resting = context;
    char *text = portrait_draw(resting->hosted, resting->detail);

    resting->same = resting->text && strcmp(text, resting->text) == 0 ? resting->same + 1 : 0;
    free(resting->text);
    resting->text = text;
    return resting->same >= SAME_LOOKS;
}

/* One check may see a descriptor that a thread of the host has open for a moment. */
static char *draw_at_rest(struct fixture *fixture, enum portrait_detail detail)
{
    struct resting resting = { .hosted = &fixture->hosted, .detail = detail };

    CU_ASSERT_TRUE_FATAL(hosted_wait(&fixture->hosted, looks_as_before, &resting));
    return resting.text;
}

static void learn_shapes(struct sweep *sweep)
{
    sweep->old_shape = draw_at_rest(sweep->fixture, PORTRAIT_SHAPE);
    fault_arm(0, 0);
    reload_to(sweep->fixture, sweep->new_file);
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        sweep->calls[kind] = fault_count((enum fault_kind)kind);
    sweep->new_shape = draw_at_rest(sweep->fixture, PORTRAIT_SHAPE);
}

static bool go_back(struct sweep *sweep)
{
    reload_to(sweep->fixture, old_file);
    return await_portrait(sweep->fixture, sweep->old_shape, PORTRAIT_SHAPE);
}

static bool check_refused(struct sweep *sweep, const char *before,
                          const struct hosted_answer *answer)
{
    sweep->refused++;
    return await_portrait(sweep->fixture, before, PORTRAIT_IDENTITY) && answer->text[0] &&
           serves(sweep->fixture, "work");
}

static bool check_accepted(struct sweep *sweep)
{
    sweep->accepted++;
    return await_portrait(sweep->fixture, sweep->new_shape, PORTRAIT_SHAPE) &&
           serves(sweep->fixture, "work") && go_back(sweep);
}

/* One reload whose nth call fails. False: there was no such call, or a check failed. */
static bool sweep_one(struct sweep *sweep, uint64_t nth, bool *out_struck)
{
    struct fixture *fixture = sweep->fixture;
    struct hosted_answer answer;
    const char *struck;
    char *before;
    bool right;

    if (sweep->before_each)
        sweep->before_each(fixture, nth);
    before = draw_at_rest(fixture, PORTRAIT_IDENTITY);
    write_file(fixture, sweep->new_file);
    fault_arm(sweep->kinds, nth);
    ask(fixture, &answer);
    struck = fault_struck();
    fault_arm(0, 0);
    right = answer.status ? check_refused(sweep, before, &answer) : check_accepted(sweep);
    if (!right)
        printf("    call %ju, %s, failed; told: %s\n", (uintmax_t)nth, struck ? struck : "none",
               answer.text);
    free(before);
    *out_struck = struck != NULL;
    return right && (struck || answer.status == 0);
}

static void sweep(struct sweep *sweep)
{
    bool struck = true;

    if (sweep->before_each)
        sweep->before_each(sweep->fixture, 0);
    learn_shapes(sweep);
    CU_ASSERT_TRUE_FATAL(go_back(sweep));
    for (uint64_t nth = 1; struck; nth++) {
        CU_ASSERT_FATAL(nth < SWEEP_MAX);
        CU_ASSERT_TRUE_FATAL(sweep_one(sweep, nth, &struck));
    }
    printf("%ju refused, %ju accepted ", (uintmax_t)sweep->refused, (uintmax_t)sweep->accepted);
    free(sweep->old_shape);
    free(sweep->new_shape);
}

/* --- tests ---------------------------------------------------------------------------------- */

/* Other content each time, so that it is copied, tried in a process of its own, and loaded. */
static void renew_plugin(struct fixture *fixture, uint64_t nth)
{
    char path[256];
    size_t size;
    char *bytes = workspace_read(TEST_PLUGINS "/sample.so", &size);
    char *longer = realloc(bytes, size + sizeof nth);

    CU_ASSERT_PTR_NOT_NULL_FATAL(longer);
    memcpy(longer + size, &nth, sizeof nth);
    workspace_write(workspace_path(&fixture->workspace, "sample.so", path), longer,
                    size + sizeof nth);
    free(longer);
}

/* promise R12 */
static void test_any_call_that_fails_leaves_the_host_as_it_was(void)
{
    struct fixture fixture;
    struct sweep all = { .fixture = &fixture, .kinds = FAULT_ANY, .new_file = new_file };

    set_up(&fixture, old_file, NULL);
    sweep(&all);
    CU_ASSERT(all.refused > 100);
    CU_ASSERT(all.calls[FAULT_MEMORY] > 100);
    CU_ASSERT(all.calls[FAULT_OPEN] > 0);
    CU_ASSERT(all.calls[FAULT_THREAD] > 0);
    tear_down(&fixture);
}

/* promise R12 */
static void test_any_call_of_loading_that_fails_leaves_the_host_as_it_was(void)
{
    struct fixture fixture;
    struct sweep memory = { .fixture = &fixture,
                            .kinds = FAULT_ONLY(FAULT_MEMORY),
                            .new_file = newer_file,
                            .before_each = renew_plugin };

    set_up(&fixture, old_file, NULL);
    sweep(&memory);
    CU_ASSERT(memory.refused > 50);
    tear_down(&fixture);
}

/* promise R12 */
static void test_any_call_of_probing_that_fails_leaves_the_host_as_it_was(void)
{
    struct fixture fixture;
    struct sweep others = { .fixture = &fixture,
                            .kinds = FAULT_ANY & ~FAULT_ONLY(FAULT_MEMORY),
                            .new_file = newer_file,
                            .before_each = renew_plugin };

    set_up(&fixture, old_file, TEST_PROGRAM);
    sweep(&others);
    CU_ASSERT(others.calls[FAULT_OPEN] > 4);
    CU_ASSERT(others.calls[FAULT_PROCESS] > 2);
    CU_ASSERT(others.calls[FAULT_PLUGIN] > 0);
    CU_ASSERT(others.refused >= others.calls[FAULT_PROCESS] + others.calls[FAULT_PLUGIN]);
    tear_down(&fixture);
}

/* promise R12 */
static void test_any_worker_that_does_not_open_leaves_the_host_as_it_was(void)
{
    struct fixture fixture;
    struct hosted_answer answer;
    uint32_t refused = 0;
    char *before;

    set_up(&fixture, old_file, NULL);
    before = portrait_draw(&fixture.hosted, PORTRAIT_IDENTITY);
    for (uint32_t number = 2; number <= 5; number++) { /* 0 and 1 are old workers */
        char text[4096];
        int size = snprintf(text, sizeof text, NUMBERED_FILE, fixture.workspace.path, TEST_PLUGINS,
                            fixture.workspace.path, number);

        workspace_write(fixture.file, text, (size_t)size);
        ask(&fixture, &answer);
        CU_ASSERT_EQUAL(answer.status, WEIR_EINVALID);
        CU_ASSERT_PTR_NOT_NULL(strstr(answer.text, "failed to open"));
        CU_ASSERT_PTR_NOT_NULL(strstr(answer.text, "the file says that it fails"));
        CU_ASSERT_TRUE_FATAL(await_portrait(&fixture, before, PORTRAIT_IDENTITY));
        refused++;
    }
    CU_ASSERT_EQUAL(refused, 4);
    CU_ASSERT_TRUE(serves(&fixture, "work"));
    free(before);
    tear_down(&fixture);
}

/* promises R12 and R15 */
static void test_pool_of_another_kind_that_does_not_open_leaves_the_host_as_it_was(void)
{
    static const uint32_t fails[][2] = { { 0, 9 }, { 9, 1 }, { 0, 0 } };
    struct fixture fixture;
    struct hosted_answer answer;
    char *before;

    set_up(&fixture, old_file, NULL);
    before = portrait_draw(&fixture.hosted, PORTRAIT_IDENTITY);
    for (size_t i = 0; i < sizeof fails / sizeof fails[0]; i++) {
        char text[4096];
        int size = snprintf(text, sizeof text, KINDS_FILE, fixture.workspace.path, TEST_PLUGINS,
                            fixture.workspace.path, fails[i][0], fails[i][1]);

        workspace_write(fixture.file, text, (size_t)size);
        ask(&fixture, &answer);
        CU_ASSERT_EQUAL(answer.status, WEIR_EINVALID);
        CU_ASSERT_PTR_NOT_NULL(strstr(answer.text, "the file says that it fails"));
        CU_ASSERT_TRUE_FATAL(await_portrait(&fixture, before, PORTRAIT_IDENTITY));
    }
    CU_ASSERT_TRUE(serves(&fixture, "nests"));
    CU_ASSERT_TRUE(serves(&fixture, "rests"));
    free(before);
    tear_down(&fixture);
}

/* promises R12 and R17 */
static void test_socket_that_cannot_be_made_leaves_the_host_as_it_was(void)
{
    struct fixture fixture;
    struct hosted_answer answer;
    char moved[256];
    char *before, *after;

    set_up(&fixture, old_file, NULL);
    before = portrait_draw(&fixture.hosted, PORTRAIT_IDENTITY);
    workspace_write(workspace_path(&fixture.workspace, "moved", moved), "a file", 6);
    write_file(&fixture, new_file);
    ask(&fixture, &answer);
    CU_ASSERT_EQUAL(answer.status, WEIR_EINVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.text, "there is a file that is no socket"));
    CU_ASSERT_TRUE_FATAL(await_portrait(&fixture, before, PORTRAIT_IDENTITY));
    CU_ASSERT_PTR_NOT_NULL(strstr(before, "/control, listening 1"));
    CU_ASSERT_EQUAL(unlink(moved), 0);
    reload_to(&fixture, new_file);
    after = portrait_draw(&fixture.hosted, PORTRAIT_SHAPE);
    CU_ASSERT_PTR_NOT_NULL(strstr(after, "/moved, listening 1"));
    free(before);
    free(after);
    tear_down(&fixture);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "any call", test_any_call_that_fails_leaves_the_host_as_it_was },
        { "loading", test_any_call_of_loading_that_fails_leaves_the_host_as_it_was },
        { "probing", test_any_call_of_probing_that_fails_leaves_the_host_as_it_was },
        { "any worker", test_any_worker_that_does_not_open_leaves_the_host_as_it_was },
        { "any kind", test_pool_of_another_kind_that_does_not_open_leaves_the_host_as_it_was },
        { "socket", test_socket_that_cannot_be_made_leaves_the_host_as_it_was },
        CU_TEST_INFO_NULL,
    };

    return suite_run("reload faults", tests);
}
