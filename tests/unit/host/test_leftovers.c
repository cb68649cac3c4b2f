/* SPDX-License-Identifier: MIT */
/*
 * Goal: a host removes the temporary directories that killed hosts left, and no others. Shows
 * promise H4.
 * Method: private directories of this process and of children that are killed.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "host/plugin/leftovers.h"
#include "host/plugin/private_dir.h"
#include "suite.h"
#include "workspace.h"

static struct private_dir *dir_under(const struct workspace *workspace)
{
    struct private_dir *dir = NULL;
    struct problem problem;

    setenv("WEIR_PLUGIN_TMP", workspace->path, 1);
    CU_ASSERT_EQUAL_FATAL(private_dir_create(&dir, &problem), WEIR_OK);
    return dir;
}

static void sweep(const struct workspace *workspace)
{
    int parent = open(workspace->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    CU_ASSERT_TRUE_FATAL(parent >= 0);
    leftovers_sweep(parent);
    close(parent);
}

/* A child that uses a directory with a file in it, and waits to be killed. */
static pid_t start_host(const struct workspace *workspace)
{
    int ends[2];
    char byte;
    pid_t child;

    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        struct private_dir *dir = dir_under(workspace);
        char file[512];

        (void)snprintf(file, sizeof file, "%s/a.1.so", private_dir_path(dir));
        workspace_write(file, "code", 4);
        if (write(ends[1], "r", 1) == 1)
            pause();
        _exit(99);
    }
    close(ends[1]);
    CU_ASSERT_EQUAL_FATAL(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child;
}

static void kill_host(pid_t child)
{
    int status;

    CU_ASSERT_EQUAL(kill(child, SIGKILL), 0);
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
}

static void test_directory_of_a_killed_host_is_removed_by_the_next(void)
{
    struct workspace workspace;
    struct private_dir *dir;

    workspace_init(&workspace);
    kill_host(start_host(&workspace));
    CU_ASSERT_EQUAL(workspace_count(workspace.path), 1);
    dir = dir_under(&workspace);
    CU_ASSERT_EQUAL(workspace_count(workspace.path), 1);
    CU_ASSERT_EQUAL(access(private_dir_path(dir), W_OK), 0);
    private_dir_destroy(dir);
    CU_ASSERT_EQUAL(workspace_count(workspace.path), 0);
    workspace_finish(&workspace);
}

static void test_directory_in_use_stays(void)
{
    struct workspace workspace;
    struct private_dir *mine, *next;
    pid_t other;

    workspace_init(&workspace);
    other = start_host(&workspace);
    mine = dir_under(&workspace);
    next = dir_under(&workspace);
    CU_ASSERT_EQUAL(workspace_count(workspace.path), 3);
    CU_ASSERT_EQUAL(access(private_dir_path(mine), W_OK), 0);
    kill_host(other);
    private_dir_destroy(next);
    private_dir_destroy(mine);
    sweep(&workspace);
    CU_ASSERT_EQUAL(workspace_count(workspace.path), 0);
    workspace_finish(&workspace);
}

/* Files in /tmp with another name, and links, are not ours. */
static void test_what_is_not_ours_stays(void)
{
    struct workspace workspace, elsewhere;
    char path[256];

    workspace_init(&workspace);
    workspace_init(&elsewhere);
    workspace_write(workspace_path(&elsewhere, "kept", path), "k", 1);
    CU_ASSERT_EQUAL(symlink(elsewhere.path, workspace_path(&workspace, "weir-plugins.link", path)),
                    0);
    CU_ASSERT_EQUAL(mkdir(workspace_path(&workspace, "weir-plug", path), 0700), 0);
    workspace_write(workspace_path(&workspace, "weir-plugins.file", path), "f", 1);
    sweep(&workspace);
    CU_ASSERT_EQUAL(workspace_count(workspace.path), 3);
    CU_ASSERT_EQUAL(workspace_count(elsewhere.path), 1);
    workspace_finish(&workspace);
    workspace_finish(&elsewhere);
}

/* The moment between making a directory and locking it: the sweep was first. */
static void test_directory_lost_to_a_sweep_is_noticed(void)
{
    struct workspace workspace;
    char directory[256];
    int parent, sweeper, descriptor;

    workspace_init(&workspace);
    parent = open(workspace.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CU_ASSERT_EQUAL(mkdir(workspace_path(&workspace, "weir-plugins.new", directory), 0700), 0);
    sweeper = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CU_ASSERT_EQUAL_FATAL(flock(sweeper, LOCK_EX), 0);
    CU_ASSERT_TRUE(leftovers_lock(parent, "weir-plugins.new") < 0);
    close(sweeper);
    descriptor = leftovers_lock(parent, "weir-plugins.new");
    CU_ASSERT_TRUE(descriptor >= 0);
    close(descriptor);
    CU_ASSERT_EQUAL(rmdir(directory), 0);
    CU_ASSERT_TRUE(leftovers_lock(parent, "weir-plugins.new") < 0);
    CU_ASSERT_EQUAL(symlink("/tmp", directory), 0);
    CU_ASSERT_TRUE(leftovers_lock(parent, "weir-plugins.new") < 0);
    close(parent);
    workspace_finish(&workspace);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "directory of a killed host", test_directory_of_a_killed_host_is_removed_by_the_next },
        { "directory in use stays", test_directory_in_use_stays },
        { "what is not ours stays", test_what_is_not_ours_stays },
        { "directory lost to a sweep", test_directory_lost_to_a_sweep_is_noticed },
        CU_TEST_INFO_NULL,
    };

    return suite_run("leftovers", tests);
}
