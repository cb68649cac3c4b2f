/* SPDX-License-Identifier: MIT */
/*
 * Goal: a removed pool gets as much time to end as the slowest worker in it, at any depth, may
 * take. Pools that are nested in one pool close in the order in which they feed each other. Shows
 * promises P6 and O5.
 *
 * Method: a host of nested pools with time-outs of their own, and the results of closing.h. A
 * worker that waits at a barrier until its pool closes, and then feeds its sibling. A source that
 * waits at a barrier for as long as the host ends.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/run/closing.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"
#include "unit/reload/hosted.h"
#include "unit/support/wait_limit.h"

static const char text[] =
    "version: 1\nhost: {plugins: [\"" TEST_PLUGINS "\"]}\n"
    "pools:\n"
    "  flat: {use: changeling.worker, size: 1, remove: {timeout: 5s}}\n"
    "  whenever: {use: changeling.worker, size: 1, remove: {timeout: 0}}\n"
    "  mixed: {members: {slow: {use: changeling.worker, size: 1, remove: {timeout: 10m}},\n"
    "                    quick: {use: changeling.worker, size: 1, remove: {timeout: 1s}}}}\n"
    "  deep: {members: {deeper: {members: {quick: {use: changeling.worker, size: 1,\n"
    "                                              remove: {timeout: 2s}}}}}}\n";

static uint64_t time_of(struct hosted *hosted, const char *path)
{
    struct pool *pool = hosted_pool(hosted, path);

    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    return closing_timeout_ms(pool);
}

/* promise P6 */
static void test_removed_pool_has_as_long_as_the_slowest_in_it(void)
{
    struct workspace workspace;
    struct hosted hosted;
    char file[256];

    workspace_init(&workspace);
    workspace_write(workspace_path(&workspace, "weir.yaml", file), text, sizeof text - 1);
    hosted_start(&hosted, file, NULL);
    CU_ASSERT_EQUAL(time_of(&hosted, "flat"), 5000 + CLOSING_GRACE_MS);
    CU_ASSERT_EQUAL(time_of(&hosted, "whenever"), CLOSING_TIMEOUT_MS);
    CU_ASSERT_EQUAL(time_of(&hosted, "mixed"), 600000 + CLOSING_GRACE_MS);
    CU_ASSERT_EQUAL(time_of(&hosted, "deep"), 2000 + CLOSING_GRACE_MS);
    hosted_stop(&hosted);
    workspace_finish(&workspace);
}

/* --- the order ------------------------------------------------------------------------------ */

#define SENT 3u

struct opener {
    struct pool *watched;
    int barrier;
};

/* Lets the messages through once the watched pool closes. */
static void *open_when_closing(void *context)
{
    struct opener *opener = context;

    while (!pool_is_closing(opener->watched))
        (void)sched_yield();
    for (uint32_t i = 0; i < SENT; i++)
        CU_ASSERT_EQUAL(write(opener->barrier, "y", 1), 1);
    return NULL;
}

struct target {
    struct hosted *hosted;
    const char *path;
};

static bool is_sent(void *context)
{
    struct target *target = context;

    return hosted_send(target->hosted, target->path) == 0;
}

/* A host with two barriers. */
struct barred {
    struct workspace workspace;
    struct hosted hosted;
    int barriers[2];
};

static int make_barrier(struct workspace *workspace, const char *name)
{
    char path[256];
    int descriptor;

    CU_ASSERT_EQUAL_FATAL(mkfifo(workspace_path(workspace, name, path), 0600), 0);
    descriptor = open(path, O_RDWR | O_CLOEXEC);
    CU_ASSERT_FATAL(descriptor >= 0);
    return descriptor;
}

/* Starts a host with these parts; @ is the folder of the barriers `first` and `second`. */
static void start_barred(struct barred *barred, const char *parts)
{
    char file[256], folder[256];
    char *lines = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&lines, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    workspace_init(&barred->workspace);
    barred->barriers[0] = make_barrier(&barred->workspace, "first");
    barred->barriers[1] = make_barrier(&barred->workspace, "second");
    (void)workspace_path(&barred->workspace, ".", folder);
    (void)fputs("version: 1\nhost: {plugins: [\"" TEST_PLUGINS "\"]}\n", stream);
    for (const char *at = parts; *at; at++)
        (void)(*at == '@' ? fputs(folder, stream) : fputc(*at, stream));
    (void)fclose(stream);
    workspace_write(workspace_path(&barred->workspace, "weir.yaml", file), lines, size);
    free(lines);
    hosted_start(&barred->hosted, file, NULL);
}

static void stop_barred(struct barred *barred)
{
    hosted_stop(&barred->hosted);
    (void)close(barred->barriers[0]);
    (void)close(barred->barriers[1]);
    workspace_finish(&barred->workspace);
}

static struct pool *pool_of(struct barred *barred, const char *path)
{
    struct pool *pool = hosted_pool(&barred->hosted, path);

    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    return pool;
}

static pthread_t open_later(struct opener *opener)
{
    pthread_t thread;

    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, open_when_closing, opener), 0);
    return thread;
}

static void send_to(struct barred *barred, const char *path)
{
    struct target target = { &barred->hosted, path };

    CU_ASSERT_TRUE_FATAL(hosted_wait(&barred->hosted, is_sent, &target));
}

/* promise O5: the last pool gets all messages of the first, in hand or in a mailbox. */
static void test_siblings_close_in_the_order_in_which_they_feed_each_other(void)
{
    struct ledger_reading last;
    struct opener opener;
    struct barred barred;
    pthread_t thread;

    start_barred(&barred, "pools: {top: {members: {\n"
                          "  last: {use: changeling.worker, size: 1},\n"
                          "  first: {use: slow_open.pass, size: 1, args: {barrier: \"@/first\"},\n"
                          "          outputs: {out: top/last}}}}}\n");
    for (uint32_t i = 0; i < SENT; i++)
        send_to(&barred, "top/first");
    opener = (struct opener){ pool_of(&barred, "top/first"), barred.barriers[0] };
    thread = open_later(&opener);
    CU_ASSERT_TRUE(closing_shut_down(&barred.hosted.assembly, wait_limit_ms()));
    pthread_join(thread, NULL);
    pool_ledger(pool_of(&barred, "top/last"), &last);
    CU_ASSERT_EQUAL(last.done, SENT);
    stop_barred(&barred);
}

/* --- a part that never ends ----------------------------------------------------------------- */

#define STUCK_MS 2000u

static bool is_inside_produce(void *context)
{
    struct barred *barred = context;
    struct ledger_reading last;

    pool_ledger(pool_of(barred, "last"), &last);
    return last.accepted == 1;
}

/* promise O5: the pools have time to finish their accepted messages. The message of `work` is let
 * through when the pool closes. */
static void test_source_that_hangs_leaves_time_for_the_pools(void)
{
    struct ledger_reading last;
    struct opener opener;
    struct barred barred;
    pthread_t thread;

    start_barred(&barred,
                 "sources: {spring: {use: slow_open.spring, args: {barrier: \"@/first\"},\n"
                 "                   to: last}}\n"
                 "pools:\n"
                 "  work: {use: slow_open.pass, size: 1, args: {barrier: \"@/second\"},\n"
                 "         outputs: {out: last}}\n"
                 "  last: {use: changeling.worker, size: 1}\n");
    CU_ASSERT_TRUE_FATAL(hosted_wait(&barred.hosted, is_inside_produce, &barred));
    send_to(&barred, "work");
    opener = (struct opener){ pool_of(&barred, "work"), barred.barriers[1] };
    thread = open_later(&opener);
    CU_ASSERT_FALSE(closing_shut_down(&barred.hosted.assembly, STUCK_MS));
    CU_ASSERT_FALSE(source_has_ended(barred.hosted.assembly.sources[0]));
    CU_ASSERT_TRUE(pool_has_ended(pool_of(&barred, "work")));
    CU_ASSERT_TRUE(pool_has_ended(pool_of(&barred, "last")));
    pool_ledger(pool_of(&barred, "last"), &last);
    CU_ASSERT_EQUAL(last.done, 2);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(write(barred.barriers[0], "y", 1), 1);
    stop_barred(&barred);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "siblings", test_siblings_close_in_the_order_in_which_they_feed_each_other },
        { "source that hangs", test_source_that_hangs_leaves_time_for_the_pools },
        { "slowest", test_removed_pool_has_as_long_as_the_slowest_in_it },
        CU_TEST_INFO_NULL,
    };

    return suite_run("closing time", tests);
}
