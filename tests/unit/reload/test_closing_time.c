/*
 * Goal: a removed pool gets as much time to end as the slowest worker in it, at any depth, may
 * take. Pools that are nested in one pool close in the order in which they feed each other. Shows
 * promises P6 and O5.
 *
 * Method: a host of nested pools with time-outs of their own, and the results of closing.h. A
 * worker that waits at a barrier until its pool closes, and then feeds its sibling.
 */
#include <fcntl.h>
#include <sched.h>
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

static void start_siblings(struct hosted *hosted, struct workspace *workspace,
                           struct opener *opener)
{
    char barrier[256], file[256], lines[1024];
    int size;

    workspace_init(workspace);
    CU_ASSERT_EQUAL_FATAL(mkfifo(workspace_path(workspace, "barrier", barrier), 0600), 0);
    size = snprintf(lines, sizeof lines,
                    "version: 1\nhost: {plugins: [\"" TEST_PLUGINS "\"]}\n"
                    "pools: {top: {members: {\n"
                    "  last: {use: changeling.worker, size: 1},\n"
                    "  first: {use: slow_open.pass, size: 1, args: {barrier: \"%s\"},\n"
                    "          outputs: {out: top/last}}}}}\n",
                    barrier);
    workspace_write(workspace_path(workspace, "weir.yaml", file), lines, (size_t)size);
    opener->barrier = open(barrier, O_RDWR | O_CLOEXEC);
    CU_ASSERT_FATAL(opener->barrier >= 0);
    hosted_start(hosted, file, NULL);
    opener->watched = hosted_pool(hosted, "top/first");
    CU_ASSERT_PTR_NOT_NULL_FATAL(opener->watched);
}

static bool is_sent(void *context)
{
    return hosted_send(context, "top/first") == 0;
}

/* promise O5: the last pool gets all messages of the first, in hand or in a mailbox. */
static void test_siblings_close_in_the_order_in_which_they_feed_each_other(void)
{
    struct ledger_reading last;
    struct workspace workspace;
    struct opener opener;
    struct hosted hosted;
    pthread_t thread;

    start_siblings(&hosted, &workspace, &opener);
    for (uint32_t i = 0; i < SENT; i++)
        CU_ASSERT_TRUE_FATAL(hosted_wait(&hosted, is_sent, &hosted));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, open_when_closing, &opener), 0);
    CU_ASSERT_TRUE(closing_shut_down(&hosted.assembly, wait_limit_ms()));
    pthread_join(thread, NULL);
    pool_ledger(hosted_pool(&hosted, "top/last"), &last);
    CU_ASSERT_EQUAL(last.done, SENT);
    hosted_stop(&hosted);
    (void)close(opener.barrier);
    workspace_finish(&workspace);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "siblings", test_siblings_close_in_the_order_in_which_they_feed_each_other },
        { "slowest", test_removed_pool_has_as_long_as_the_slowest_in_it },
        CU_TEST_INFO_NULL,
    };

    return suite_run("closing time", tests);
}
