/* SPDX-License-Identifier: MIT */
/*
 * Goal: every directory in which a change of a file would show is watched: that of the file, those
 * of the links on its path, and for a missing directory the nearest one above. Shows promise R9.
 * Method: files, links and missing directories in a private directory.
 */
#include <sys/stat.h>

#include "host/reload/watched_dirs.h"
#include "suite.h"
#include "workspace.h"

struct fixture {
    struct workspace workspace;
    struct config_files files;
    struct watched_dirs dirs;
};

static void begin(struct fixture *f)
{
    workspace_init(&f->workspace);
    config_files_init(&f->files);
    watched_dirs_init(&f->dirs);
}

static void end(struct fixture *f)
{
    config_files_finish(&f->files);
    watched_dirs_finish(&f->dirs);
    workspace_finish(&f->workspace);
}

static const char *in(const struct fixture *f, const char *name, char *out)
{
    return workspace_path(&f->workspace, name, out);
}

static void add(struct fixture *f, const char *name, bool pattern)
{
    char path[256];

    config_files_add(&f->files, in(f, name, path), pattern);
    watched_dirs_finish(&f->dirs);
    watched_dirs_add(&f->dirs, &f->files);
}

static void make_dir(const struct fixture *f, const char *name)
{
    char path[256];

    CU_ASSERT_EQUAL_FATAL(mkdir(in(f, name, path), 0700), 0);
}

static void make_link(const struct fixture *f, const char *target, const char *name)
{
    char path[256];

    CU_ASSERT_EQUAL_FATAL(symlink(target, in(f, name, path)), 0);
}

/* True when the directory `name`, "" = the workspace itself, is among them. */
static bool has(const struct fixture *f, const char *name)
{
    char path[256];
    size_t length = strlen(in(f, name, path));

    if (!name[0])
        path[length - 1] = '\0';
    for (uint32_t i = 0; i < f->dirs.count; i++)
        if (strcmp(f->dirs.dirs[i].path, path) == 0)
            return true;
    return false;
}

static void test_file_has_its_directory_once(void)
{
    struct fixture f;

    begin(&f);
    add(&f, "weir.yaml", false);
    add(&f, "other.yaml", false);
    CU_ASSERT_EQUAL(f.dirs.count, 1);
    CU_ASSERT_TRUE(has(&f, ""));
    end(&f);
}

static void test_each_link_on_the_way_has_its_directory(void)
{
    struct fixture f;
    char target[256];

    begin(&f);
    make_dir(&f, "etc");
    make_dir(&f, "v1");
    make_link(&f, in(&f, "now/weir.yaml", target), "weir.yaml");
    make_link(&f, "v1", "now");
    add(&f, "weir.yaml", false);
    CU_ASSERT_EQUAL(f.dirs.count, 2);
    CU_ASSERT_TRUE(has(&f, ""));
    CU_ASSERT_TRUE(has(&f, "v1"));
    end(&f);
}

static void test_links_in_a_circle_are_given_up(void)
{
    struct fixture f;

    begin(&f);
    make_link(&f, "b", "a");
    make_link(&f, "a", "b");
    add(&f, "a", false);
    CU_ASSERT_EQUAL(f.dirs.count, 1);
    CU_ASSERT_TRUE(has(&f, ""));
    end(&f);
}

static void test_missing_directory_has_the_nearest_above(void)
{
    struct fixture f;
    struct watched_dirs before;

    begin(&f);
    add(&f, "conf.d/deep/*.yaml", true);
    CU_ASSERT_EQUAL(f.dirs.count, 1);
    CU_ASSERT_TRUE(has(&f, ""));
    before = f.dirs;
    watched_dirs_init(&f.dirs);
    make_dir(&f, "conf.d");
    add(&f, "conf.d/deep/*.yaml", true);
    CU_ASSERT_TRUE(has(&f, "conf.d"));
    CU_ASSERT_FALSE(watched_dirs_equal(&before, &f.dirs));
    watched_dirs_finish(&before);
    end(&f);
}

static void test_another_directory_of_the_same_name_is_another(void)
{
    struct fixture f;
    struct watched_dirs before;
    char path[256];
    char other[256];

    begin(&f);
    make_dir(&f, "conf.d");
    add(&f, "conf.d/*.yaml", true);
    before = f.dirs;
    watched_dirs_init(&f.dirs);
    add(&f, "conf.d/*.yaml", true);
    CU_ASSERT_TRUE(watched_dirs_equal(&before, &f.dirs));
    CU_ASSERT_EQUAL(rename(in(&f, "conf.d", path), in(&f, "gone", other)), 0);
    make_dir(&f, "conf.d");
    add(&f, "conf.d/*.yaml", true);
    CU_ASSERT_FALSE(watched_dirs_equal(&before, &f.dirs));
    watched_dirs_finish(&before);
    end(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "its own", test_file_has_its_directory_once },
        { "links", test_each_link_on_the_way_has_its_directory },
        { "circle", test_links_in_a_circle_are_given_up },
        { "missing", test_missing_directory_has_the_nearest_above },
        { "another", test_another_directory_of_the_same_name_is_another },
        CU_TEST_INFO_NULL,
    };

    return suite_run("watched_dirs", tests);
}
