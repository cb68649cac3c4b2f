/*
 * Goal: a removed pool gets as much time to end as the slowest worker in it, at any depth, may
 * take. Shows promise P6.
 *
 * Method: a host of nested pools with time-outs of their own, and the results of closing.h.
 */
#include "host/run/closing.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"
#include "unit/reload/hosted.h"

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

int main(void)
{
    CU_TestInfo tests[] = {
        { "slowest", test_removed_pool_has_as_long_as_the_slowest_in_it },
        CU_TEST_INFO_NULL,
    };

    return suite_run("closing time", tests);
}
