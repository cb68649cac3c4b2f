/* SPDX-License-Identifier: MIT */
/*
 * Goal: what the host cannot look up for want of something is not "not there" (promise B119).
 * Method: calls of the C library that fail when the test says so; a row for each place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/dead/dead_output.h"
#include "host/plugin/plugin_path.h"
#include "host/plugin/private_dir.h"
#include "suite.h"
#include "workspace.h"

static int error_of_lstat, error_of_access; /* 0: they do what they do */
static int fstat_that_fails;                /* 1: the next one; 0: none */

int __real_lstat(const char *path, struct stat *out);
int __wrap_lstat(const char *path, struct stat *out);

int __wrap_lstat(const char *path, struct stat *out)
{
    if (error_of_lstat == 0 || !strstr(path, DEAD_FILE_OLDER))
        return __real_lstat(path, out);
    errno = error_of_lstat;
    return -1;
}

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);

int __wrap_access(const char *path, int mode)
{
    if (error_of_access == 0)
        return __real_access(path, mode);
    errno = error_of_access;
    return -1;
}

int __real_fstat(int descriptor, struct stat *out);
int __wrap_fstat(int descriptor, struct stat *out);

int __wrap_fstat(int descriptor, struct stat *out)
{
    if (fstat_that_fails == 0 || --fstat_that_fails > 0)
        return __real_fstat(descriptor, out);
    errno = EIO;
    return -1;
}

/* A file of an older version gets another name; a file that has that name already stays. */
static void dead_letters_of_before_stay(void)
{
    static const char first_version[] = "weir dead letters 1\nsomething of version 1\n";
    struct workspace workspace;
    struct dead_output *output = NULL;
    char path[256], older[256], *text;
    size_t size;

    workspace_init(&workspace);
    workspace_write(workspace_path(&workspace, "dead", path), first_version,
                    sizeof first_version - 1);
    workspace_write(workspace_path(&workspace, "dead" DEAD_FILE_OLDER, older), "older", 5);
    error_of_lstat = ENOMEM;
    CU_ASSERT_EQUAL(dead_output_open(path, &output), ENOMEM);
    error_of_lstat = 0;
    text = workspace_read(older, &size);
    CU_ASSERT_STRING_EQUAL(text, "older");
    free(text);
    workspace_finish(&workspace);
}

/* The next folder of the path may have another plugin of the name. */
static void plugin_is_not_passed_by(void)
{
    struct workspace first, second;
    struct plugin_path path;
    struct problem problem = { "" };
    char file[256], *found;

    workspace_init(&first);
    workspace_init(&second);
    workspace_write(workspace_path(&second, "files.so", file), "", 0);
    workspace_write(workspace_path(&first, "files.so", file), "", 0);
    plugin_path_init(&path);
    CU_ASSERT_EQUAL(plugin_path_add(&path, first.path), WEIR_OK);
    CU_ASSERT_EQUAL(plugin_path_add(&path, second.path), WEIR_OK);
    error_of_access = EIO;
    found = plugin_path_find(&path, "files", &problem);
    error_of_access = 0;
    CU_ASSERT_TRUE(found && strcmp(found, file) == 0);
    free(found);
    plugin_path_finish(&path);
    workspace_finish(&first);
    workspace_finish(&second);
}

/* Neither "no regular file", when it is opened, nor "still being written", after its copy. */
static void plugin_is_not_called_another_file(void)
{
    struct workspace workspace;
    struct private_dir *dir = NULL;
    struct private_copy copy;
    struct problem problem = { "" };

    workspace_init(&workspace);
    setenv("WEIR_PLUGIN_TMP", workspace.path, 1);
    CU_ASSERT_EQUAL_FATAL(private_dir_create(&dir, &problem), WEIR_OK);
    for (int nth = 1; nth <= 2; nth++) {
        fstat_that_fails = nth;
        CU_ASSERT_EQUAL(private_dir_copy(dir, "/proc/self/exe", "a.so", &copy, &problem),
                        WEIR_EUNKNOWN);
        CU_ASSERT_EQUAL(fstat_that_fails, 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "cannot be read: Input/output error"));
    }
    private_dir_destroy(dir);
    workspace_finish(&workspace);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "dead letters", dead_letters_of_before_stay },
        { "plugin", plugin_is_not_passed_by },
        { "file of a plugin", plugin_is_not_called_another_file },
        CU_TEST_INFO_NULL,
    };

    return suite_run("shortage", tests);
}
