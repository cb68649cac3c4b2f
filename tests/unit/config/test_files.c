/* SPDX-License-Identifier: MIT */
/*
 * Goal: a configuration knows all files that it was read from, also when it is wrong, and whether
 * one has changed since it was read. Shows promise R9 and promise C25.
 * Method: a file that includes others and has a secret; each is changed in turn.
 */
#include <sys/resource.h>
#include <sys/stat.h>

#include "config/reader.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"

struct fixture {
    struct workspace workspace;
    struct config_files files;
    char main[256];
    char part[256];
    char secret[256];
};

static void put(const char *path, const char *text)
{
    workspace_write(path, text, strlen(text));
}

static void read_again(struct fixture *f, int wanted)
{
    struct config_source source = { .files = &f->files };
    struct config_tree *tree = NULL;
    struct report report;

    config_files_finish(&f->files);
    report_init(&report);
    CU_ASSERT_EQUAL(config_read_file(f->main, &source, &report, &tree), wanted);
    report_finish(&report);
    config_tree_destroy(tree);
    CU_ASSERT_EQUAL(config_files_stamp(&f->files), config_files_stamp_now(&f->files));
}

static void begin(struct fixture *f)
{
    char text[600];

    workspace_init(&f->workspace);
    config_files_init(&f->files);
    (void)workspace_path(&f->workspace, "weir.yaml", f->main);
    (void)workspace_path(&f->workspace, "a.part", f->part);
    (void)workspace_path(&f->workspace, "secret", f->secret);
    put(f->main, "version: 1\ninclude: ['*.part']\n");
    (void)snprintf(text, sizeof text, "x-a: ${file:%s}\n", f->secret);
    put(f->part, text);
    put(f->secret, "word\n");
    read_again(f, WEIR_OK);
}

static void end(struct fixture *f)
{
    config_files_finish(&f->files);
    workspace_finish(&f->workspace);
}

static bool has_changed(const struct fixture *f)
{
    return config_files_stamp(&f->files) != config_files_stamp_now(&f->files);
}

static bool has(const struct fixture *f, const char *path, bool pattern)
{
    for (size_t i = 0; i < f->files.count; i++)
        if (f->files.files[i].pattern == pattern && strcmp(f->files.files[i].path, path) == 0)
            return true;
    return false;
}

static void test_all_files_are_known(void)
{
    struct fixture f;
    char pattern[256];

    begin(&f);
    CU_ASSERT_EQUAL(f.files.count, 4);
    CU_ASSERT_TRUE(has(&f, f.main, false));
    CU_ASSERT_TRUE(has(&f, f.part, false));
    CU_ASSERT_TRUE(has(&f, f.secret, false));
    CU_ASSERT_TRUE(has(&f, workspace_path(&f.workspace, "*.part", pattern), true));
    end(&f);
}

static void test_change_of_any_shows(void)
{
    struct fixture f;

    begin(&f);
    put(f.secret, "other\n");
    CU_ASSERT_TRUE(has_changed(&f));
    read_again(&f, WEIR_OK);
    put(f.part, "x-a: 1\n");
    CU_ASSERT_TRUE(has_changed(&f));
    read_again(&f, WEIR_OK);
    CU_ASSERT_EQUAL(remove(f.main), 0);
    CU_ASSERT_TRUE(has_changed(&f));
    end(&f);
}

static void test_new_name_for_a_pattern_shows_and_others_do_not(void)
{
    struct fixture f;
    char path[256];

    begin(&f);
    put(workspace_path(&f.workspace, "other", path), "");
    CU_ASSERT_FALSE(has_changed(&f));
    put(workspace_path(&f.workspace, "b.part", path), "");
    CU_ASSERT_TRUE(has_changed(&f));
    end(&f);
}

static void test_permission_that_is_taken_shows(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(chmod(f.part, 0400), 0);
    CU_ASSERT_TRUE(has_changed(&f));
    end(&f);
}

static void test_wrong_file_is_known_with_all_it_names(void)
{
    struct fixture f;

    begin(&f);
    put(f.part, "x-a: ${file:/nowhere/at/all}\nx-b: [\n");
    read_again(&f, WEIR_EINVALID);
    CU_ASSERT_TRUE(has(&f, f.part, false));
    put(f.part, "x-a: ${file:/nowhere/at/all}\n");
    read_again(&f, WEIR_EINVALID);
    CU_ASSERT_TRUE(has(&f, "/nowhere/at/all", false));
    end(&f);
}

static void test_made_up_files_are_not_watched(void)
{
    struct config_files files;

    config_files_init(&files);
    config_files_add(&files, "/proc/self/status", false);
    CU_ASSERT_EQUAL(files.count, 0);
    config_files_add(NULL, "/etc/passwd", false);
    config_files_finish(&files);
}

/* promise C2: for any order in which a directory lists them. */
static void test_files_are_added_in_the_order_of_their_names(void)
{
    const char *last = "";
    struct fixture f;
    uint32_t parts = 0;

    begin(&f);
    for (uint32_t i = 0; i < 26; i++) {
        char name[] = "?.part";
        char text[] = "x-?: 1\n";
        char path[256];

        name[0] = text[2] = (char)('a' + i * 11 % 26);
        put(workspace_path(&f.workspace, name, path), text);
    }
    read_again(&f, WEIR_OK);
    for (size_t i = 0; i < f.files.count; i++) {
        const char *path = f.files.files[i].path;

        if (f.files.files[i].pattern || !strstr(path, ".part"))
            continue;
        CU_ASSERT_TRUE(strcmp(last, path) < 0);
        last = path;
        parts++;
    }
    CU_ASSERT_EQUAL(parts, 26);
    end(&f);
}

/* --- folders that cannot be read -------------------------------------------------------------- */

#define SOMEBODY 65534

static void expect_refusal(const struct fixture *f, const char *reason)
{
    struct config_tree *tree = NULL;
    struct report report;

    report_init(&report);
    CU_ASSERT_EQUAL(config_read_file(f->main, NULL, &report, &tree), WEIR_EINVALID);
    CU_ASSERT_EQUAL_FATAL(report_count(&report), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.errors.entries[0].reason, reason));
    report_finish(&report);
}

/* Two folders with a part each. */
static void make_folders(const struct fixture *f, char folders[2][256], char parts[2][300])
{
    CU_ASSERT_EQUAL(chmod(f->workspace.path, 0755), 0);
    put(f->main, "include: ['*/*.part']\n");
    CU_ASSERT_EQUAL(chmod(f->main, 0644), 0);
    for (unsigned i = 0; i < 2; i++) {
        (void)workspace_path(&f->workspace, i == 0 ? "one" : "two", folders[i]);
        CU_ASSERT_EQUAL(mkdir(folders[i], 0755), 0);
        (void)snprintf(parts[i], sizeof parts[i], "%s/x.part", folders[i]);
        put(parts[i], i == 0 ? "x-1: 1\n" : "x-2: 1\n");
        CU_ASSERT_EQUAL(chmod(parts[i], 0644), 0);
    }
}

static void remove_folders(char folders[2][256], char parts[2][300])
{
    for (unsigned i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(chmod(folders[i], 0755), 0);
        CU_ASSERT_EQUAL(remove(parts[i]), 0);
        CU_ASSERT_EQUAL(remove(folders[i]), 0);
    }
}

/* promise C25: a reload removes no pools since a folder cannot be read. */
static void test_folder_that_cannot_be_read_is_not_empty(void)
{
    const bool is_root = geteuid() == 0; /* root reads everything */
    char folders[2][256], parts[2][300];
    struct fixture f;

    begin(&f);
    make_folders(&f, folders, parts);
    read_again(&f, WEIR_OK);
    for (mode_t mode = 0; mode <= 0444; mode += 0444) { /* neither names nor files; names alone */
        CU_ASSERT_EQUAL(chmod(folders[1], mode), 0);
        CU_ASSERT_EQUAL(is_root ? seteuid(SOMEBODY) : 0, 0);
        CU_ASSERT_TRUE(has_changed(&f));
        expect_refusal(&f, "cannot be read: Permission denied");
        CU_ASSERT_EQUAL(is_root ? seteuid(0) : 0, 0);
    }
    remove_folders(folders, parts);
    end(&f);
}

/* promise C25 */
static void test_without_descriptors_no_folder_is_empty(void)
{
    char folders[2][256], parts[2][300];
    struct rlimit limit, none;
    struct fixture f;

    begin(&f);
    make_folders(&f, folders, parts);
    read_again(&f, WEIR_OK);
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 3; /* the standard streams */
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    CU_ASSERT_FALSE(has_changed(&f));
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    remove_folders(folders, parts);
    CU_ASSERT_TRUE(has_changed(&f));
    end(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "order", test_files_are_added_in_the_order_of_their_names },
        { "all", test_all_files_are_known },
        { "change", test_change_of_any_shows },
        { "pattern", test_new_name_for_a_pattern_shows_and_others_do_not },
        { "permission", test_permission_that_is_taken_shows },
        { "wrong", test_wrong_file_is_known_with_all_it_names },
        { "made up", test_made_up_files_are_not_watched },
        { "unreadable", test_folder_that_cannot_be_read_is_not_empty },
        { "no descriptors", test_without_descriptors_no_folder_is_empty },
        CU_TEST_INFO_NULL,
    };

    return suite_run("files", tests);
}
