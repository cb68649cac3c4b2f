/* SPDX-License-Identifier: MIT */
/*
 * Goal: names without a directory are looked up in the directories of the path, in order, and
 * nowhere else. Shows promise B3.
 * Method: directories of the test's own with empty files in them.
 */
#include "host/plugin/plugin_path.h"
#include "suite.h"
#include "workspace.h"

static void test_first_directory_that_has_it_wins(void)
{
    struct workspace first, second;
    struct plugin_path path;
    struct problem problem = { "" };
    char file[256];
    char *found;

    workspace_init(&first);
    workspace_init(&second);
    workspace_write(workspace_path(&second, "files.so", file), "", 0);
    plugin_path_init(&path);
    CU_ASSERT_EQUAL(plugin_path_add(&path, first.path), WEIR_OK);
    CU_ASSERT_EQUAL(plugin_path_add(&path, second.path), WEIR_OK);
    CU_ASSERT_EQUAL(plugin_path_add(&path, first.path), WEIR_OK);
    CU_ASSERT_EQUAL(path.count, 2);
    found = plugin_path_find(&path, "files", &problem);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    CU_ASSERT_STRING_EQUAL(found, file);
    free(found);
    workspace_write(workspace_path(&first, "files.so", file), "", 0);
    found = plugin_path_find(&path, "files", &problem);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    CU_ASSERT_STRING_EQUAL(found, file);
    free(found);
    plugin_path_finish(&path);
    workspace_finish(&first);
    workspace_finish(&second);
}

static void test_name_that_is_nowhere_is_reported_with_a_guess(void)
{
    struct workspace workspace;
    struct plugin_path path;
    struct problem problem = { "" };
    char file[256];

    workspace_init(&workspace);
    workspace_write(workspace_path(&workspace, "files.so", file), "", 0);
    plugin_path_init(&path);
    CU_ASSERT_EQUAL(plugin_path_add(&path, workspace.path), WEIR_OK);
    CU_ASSERT_PTR_NULL(plugin_path_find(&path, "filse", &problem));
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "no plugin called filse: there is no filse.so in"));
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, workspace.path));
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "did you mean \"files\"?"));
    plugin_path_finish(&path);
    CU_ASSERT_PTR_NULL(plugin_path_find(&path, "files", &problem));
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "none is configured"));
    plugin_path_finish(&path);
    workspace_finish(&workspace);
}

static void test_name_with_a_directory_is_refused(void)
{
    static const char *const names[] = { "", "a/b", "../files", "/etc/passwd", ".hidden" };
    struct plugin_path path;
    struct problem problem = { "" };

    plugin_path_init(&path);
    CU_ASSERT_EQUAL(plugin_path_add(&path, "/"), WEIR_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CU_ASSERT_PTR_NULL(plugin_path_find(&path, names[i], &problem));
        CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "is not the name of a plugin"));
    }
    plugin_path_finish(&path);
}

static void test_environment_comes_first_among_the_defaults(void)
{
    struct plugin_path path;

    setenv("WEIR_PLUGIN_PATH", "/one::/two", 1);
    plugin_path_init(&path);
    CU_ASSERT_EQUAL(plugin_path_add_defaults(&path), WEIR_OK);
    CU_ASSERT_FATAL(path.count >= 3);
    CU_ASSERT_STRING_EQUAL(path.directories[0], "/one");
    CU_ASSERT_STRING_EQUAL(path.directories[1], "/two");
    plugin_path_finish(&path);
    unsetenv("WEIR_PLUGIN_PATH");
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "first directory wins", test_first_directory_that_has_it_wins },
        { "name that is nowhere", test_name_that_is_nowhere_is_reported_with_a_guess },
        { "name with a directory", test_name_with_a_directory_is_refused },
        { "environment comes first", test_environment_comes_first_among_the_defaults },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin_path", tests);
}
