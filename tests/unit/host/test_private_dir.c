/* SPDX-License-Identifier: MIT */
/*
 * Goal: copies are in a private directory that is removed afterwards, and a file that is no shared
 * object leaves nothing behind.
 * Method: real directories, which the test gives to another user where it runs as root; this
 * program stands in for a plugin's file.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "host/plugin/private_dir.h"
#include "suite.h"
#include "workspace.h"

/* The program with its type changed to that of a shared object. */
static void write_object(const char *path)
{
    size_t size;
    char *bytes = workspace_read("/proc/self/exe", &size);

    bytes[16] = bytes[5] == 2 ? 0 : 3;
    bytes[17] = bytes[5] == 2 ? 3 : 0;
    workspace_write(path, bytes, size);
    free(bytes);
}

static struct private_dir *dir_under(const struct workspace *workspace)
{
    struct private_dir *dir = NULL;
    struct problem problem;

    setenv("WEIR_PLUGIN_TMP", workspace->path, 1);
    CU_ASSERT_EQUAL_FATAL(private_dir_create(&dir, &problem), WEIR_OK);
    return dir;
}

static void test_directory_is_private_and_goes(void)
{
    struct workspace workspace;
    struct private_dir *dir;
    struct stat status;

    workspace_init(&workspace);
    dir = dir_under(&workspace);
    CU_ASSERT_EQUAL_FATAL(stat(private_dir_path(dir), &status), 0);
    CU_ASSERT_EQUAL(status.st_mode & 07777, 0700);
    CU_ASSERT_EQUAL(workspace_count(workspace.path), 1);
    private_dir_destroy(dir);
    CU_ASSERT_EQUAL(workspace_count(workspace.path), 0);
    private_dir_destroy(NULL);
    workspace_finish(&workspace);
}

/* Whether a directory is made under the workspace, and where it is said to be wrong. */
static int try_there(const struct workspace *workspace, struct problem *problem)
{
    struct private_dir *dir = NULL;
    int status;

    setenv("WEIR_PLUGIN_TMP", workspace->path, 1);
    status = private_dir_create(&dir, problem);
    private_dir_destroy(dir);
    CU_ASSERT_EQUAL(workspace_count(workspace->path), 0);
    return status;
}

/* promise T1; only root can give a folder away. */
static void test_folder_of_somebody_else_is_refused(void)
{
    struct workspace workspace;
    struct problem problem;

    if (geteuid() != 0)
        return;
    workspace_init(&workspace);
    CU_ASSERT_EQUAL(chown(workspace.path, 65534, 65534), 0);
    CU_ASSERT_EQUAL(try_there(&workspace, &problem), WEIR_ENOTALLOWED);
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "belongs to user 65534"));
    CU_ASSERT_EQUAL(chown(workspace.path, 0, 0), 0);
    workspace_finish(&workspace);
}

/* promise T1 */
static void test_folder_that_others_may_write_to_is_refused_by_root(void)
{
    struct workspace workspace;
    struct problem problem;

    workspace_init(&workspace);
    CU_ASSERT_EQUAL(chmod(workspace.path, 0770), 0);
    CU_ASSERT_EQUAL(try_there(&workspace, &problem), geteuid() == 0 ? WEIR_ENOTALLOWED : WEIR_OK);
    CU_ASSERT_EQUAL(chmod(workspace.path, 01777), 0);
    CU_ASSERT_EQUAL(try_there(&workspace, &problem), WEIR_OK);
    workspace_finish(&workspace);
}

/* promise T1 */
static void test_runtime_folder_that_others_may_write_to_is_passed_over(void)
{
    struct workspace workspace;
    struct private_dir *dir = NULL;
    struct problem problem;

    workspace_init(&workspace);
    unsetenv("WEIR_PLUGIN_TMP");
    setenv("XDG_RUNTIME_DIR", workspace.path, 1);
    CU_ASSERT_EQUAL(chmod(workspace.path, 0770), 0);
    CU_ASSERT_EQUAL_FATAL(private_dir_create(&dir, &problem), WEIR_OK);
    CU_ASSERT_EQUAL(strncmp(private_dir_path(dir), "/tmp/weir-plugins.", 18), 0);
    private_dir_destroy(dir);
    CU_ASSERT_EQUAL(chmod(workspace.path, 0700), 0);
    CU_ASSERT_EQUAL_FATAL(private_dir_create(&dir, &problem), WEIR_OK);
    CU_ASSERT_EQUAL(workspace_count(workspace.path), 1);
    private_dir_destroy(dir);
    unsetenv("XDG_RUNTIME_DIR");
    workspace_finish(&workspace);
}

static void test_directory_that_was_removed_or_replaced_is_not_there(void)
{
    struct workspace workspace;
    struct private_dir *dir;
    char path[256];

    workspace_init(&workspace);
    dir = dir_under(&workspace);
    CU_ASSERT_TRUE(private_dir_is_there(dir));
    (void)snprintf(path, sizeof path, "%s", private_dir_path(dir));
    CU_ASSERT_EQUAL(rmdir(path), 0);
    CU_ASSERT_FALSE(private_dir_is_there(dir));
    CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
    CU_ASSERT_FALSE(private_dir_is_there(dir));
    private_dir_destroy(dir); /* it leaves a foreign directory alone */
    CU_ASSERT_EQUAL(rmdir(path), 0);
    workspace_finish(&workspace);
}

static void test_copy_is_whole_and_its_hash_that_of_the_content(void)
{
    struct workspace workspace;
    struct private_copy first, second;
    struct problem problem;
    struct private_dir *dir;
    char file[256];
    size_t size, copied;
    char *bytes, *copy;

    workspace_init(&workspace);
    dir = dir_under(&workspace);
    write_object(workspace_path(&workspace, "a.so", file));
    CU_ASSERT_EQUAL_FATAL(private_dir_copy(dir, file, "a.1.so", &first, &problem), WEIR_OK);
    CU_ASSERT_EQUAL_FATAL(private_dir_copy(dir, file, "a.2.so", &second, &problem), WEIR_OK);
    bytes = workspace_read(file, &size);
    copy = workspace_read(first.path, &copied);
    CU_ASSERT_EQUAL(copied, size);
    CU_ASSERT_EQUAL(memcmp(copy, bytes, size), 0);
    CU_ASSERT_EQUAL(first.hash, weir_key(bytes, size));
    CU_ASSERT_EQUAL(first.hash, second.hash);
    free(bytes);
    free(copy);
    private_dir_destroy(dir);
    workspace_finish(&workspace);
}

static void test_refused_file_leaves_nothing(void)
{
    struct workspace workspace;
    struct private_copy copy;
    struct problem problem;
    struct private_dir *dir;
    char file[256];

    workspace_init(&workspace);
    dir = dir_under(&workspace);
    workspace_write(workspace_path(&workspace, "a.so", file), "text", 4);
    CU_ASSERT_EQUAL(private_dir_copy(dir, file, "a.1.so", &copy, &problem), WEIR_EUNSUPPORTED);
    CU_ASSERT_EQUAL(workspace_count(private_dir_path(dir)), 0);
    private_dir_destroy(dir);
    workspace_finish(&workspace);
}

/* Appends to the file until it is killed. */
static pid_t start_writer(const char *file)
{
    pid_t writer = fork();

    if (writer == 0) {
        int descriptor = open(file, O_WRONLY | O_APPEND);

        while (write(descriptor, "x", 1) == 1)
            ;
        _exit(99);
    }
    return writer;
}

/*
 * No promise of one try: the writer may not get a processor during a whole copy. A copy that was
 * taken was whole then.
 */
static void test_file_that_is_being_written_is_refused(void)
{
    struct workspace workspace;
    struct private_copy copy;
    struct problem problem;
    struct private_dir *dir;
    char file[256];
    pid_t writer;
    int status = WEIR_OK;

    workspace_init(&workspace);
    dir = dir_under(&workspace);
    write_object(workspace_path(&workspace, "a.so", file));
    CU_ASSERT_EQUAL(truncate(file, 16 << 20), 0);
    writer = start_writer(file);
    for (int tries = 0; tries < 200 && status == WEIR_OK; tries++)
        status = private_dir_copy(dir, file, "a.1.so", &copy, &problem);
    CU_ASSERT_EQUAL(status, WEIR_ENOTALLOWED);
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "is still being written"));
    CU_ASSERT_EQUAL(workspace_count(private_dir_path(dir)), 0);
    CU_ASSERT_EQUAL(kill(writer, SIGKILL), 0);
    CU_ASSERT_EQUAL(waitpid(writer, NULL, 0), writer);
    private_dir_destroy(dir);
    workspace_finish(&workspace);
}

static void test_fifo_is_refused_without_waiting(void)
{
    struct workspace workspace;
    struct private_copy copy;
    struct problem problem;
    struct private_dir *dir;
    char file[256];

    workspace_init(&workspace);
    dir = dir_under(&workspace);
    CU_ASSERT_EQUAL_FATAL(mkfifo(workspace_path(&workspace, "a.so", file), 0600), 0);
    CU_ASSERT_EQUAL(private_dir_copy(dir, file, "a.1.so", &copy, &problem), WEIR_EUNSUPPORTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(problem.text, "is not a regular file"));
    private_dir_destroy(dir);
    workspace_finish(&workspace);
}

static void test_copy_is_renamed_and_discarded(void)
{
    struct workspace workspace;
    struct private_copy copy;
    struct problem problem;
    struct private_dir *dir;
    char file[256];

    workspace_init(&workspace);
    dir = dir_under(&workspace);
    write_object(workspace_path(&workspace, "a.so", file));
    CU_ASSERT_EQUAL_FATAL(private_dir_copy(dir, file, "new.so", &copy, &problem), WEIR_OK);
    CU_ASSERT_EQUAL(private_dir_rename(dir, &copy, "a.1.so", &problem), WEIR_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(copy.path, "/a.1.so"));
    CU_ASSERT_EQUAL(access(copy.path, R_OK), 0);
    CU_ASSERT_EQUAL(workspace_count(private_dir_path(dir)), 1);
    private_dir_discard(dir, &copy);
    CU_ASSERT_EQUAL(workspace_count(private_dir_path(dir)), 0);
    private_dir_destroy(dir);
    workspace_finish(&workspace);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "directory is private and goes", test_directory_is_private_and_goes },
        { "folder of somebody else", test_folder_of_somebody_else_is_refused },
        { "others may write", test_folder_that_others_may_write_to_is_refused_by_root },
        { "runtime folder", test_runtime_folder_that_others_may_write_to_is_passed_over },
        { "removed or replaced", test_directory_that_was_removed_or_replaced_is_not_there },
        { "copy is whole", test_copy_is_whole_and_its_hash_that_of_the_content },
        { "refused file leaves nothing", test_refused_file_leaves_nothing },
        { "file that is being written", test_file_that_is_being_written_is_refused },
        { "FIFO is refused", test_fifo_is_refused_without_waiting },
        { "copy is renamed and discarded", test_copy_is_renamed_and_discarded },
        CU_TEST_INFO_NULL,
    };

    return suite_run("private_dir", tests);
}
