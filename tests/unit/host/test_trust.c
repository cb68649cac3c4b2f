/* SPDX-License-Identifier: MIT */
/*
 * Goal: a path is safe only when no user but root and the own one could change the file that it
 * leads to. Shows promise T2.
 * Method: real folders and links. As root the test gives files to another user (65534) to see that
 * it is reported; another user cannot give files away, and runs the rest.
 */
#include <errno.h>
#include <sys/stat.h>

#include "host/plugin/trust.h"
#include "suite.h"
#include "workspace.h"

#define SOMEBODY 65534

struct fixture {
    struct workspace workspace;
    char folder[256];
    char file[512];
    struct trust trust;
};

static void begin(struct fixture *f)
{
    workspace_init(&f->workspace);
    (void)workspace_path(&f->workspace, "folder", f->folder);
    (void)snprintf(f->file, sizeof f->file, "%s/file", f->folder);
    CU_ASSERT_EQUAL_FATAL(mkdir(f->folder, 0700), 0);
    workspace_write(f->file, "text", 4);
    CU_ASSERT_EQUAL(chmod(f->file, 0644), 0);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_EQUAL(remove(f->file), 0);
    workspace_finish(&f->workspace);
}

/* The flaw on the way to `path`, which is at `where` (NULL: wherever). */
static enum trust_flaw look(struct fixture *f, const char *path, const char *where)
{
    CU_ASSERT_EQUAL(trust_look(path, &f->trust), 0);
    if (where)
        CU_ASSERT_STRING_EQUAL(f->trust.where, where);
    return f->trust.flaw;
}

static void test_own_file_below_a_sticky_folder_is_safe(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(look(&f, f.file, NULL), TRUST_SAFE);
    CU_ASSERT_EQUAL(look(&f, "/", NULL), TRUST_SAFE);
    CU_ASSERT_EQUAL(look(&f, "/etc/passwd", NULL), TRUST_SAFE);
    finish(&f);
}

static void test_file_that_others_may_write_to_is_reported_at_its_place(void)
{
    static const mode_t modes[] = { 0770, 0707, 0777 };
    struct fixture f;
    char text[512];

    begin(&f);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        CU_ASSERT_EQUAL(chmod(f.folder, modes[i]), 0);
        CU_ASSERT_EQUAL(look(&f, f.file, f.folder), TRUST_WRITABLE);
    }
    trust_describe(&f.trust, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "others than its owner may write to /"));
    CU_ASSERT_EQUAL(chmod(f.folder, 01777), 0);
    CU_ASSERT_EQUAL(look(&f, f.file, NULL), TRUST_SAFE);
    CU_ASSERT_EQUAL(chmod(f.file, 01664), 0); /* a sticky bit says nothing of a file */
    CU_ASSERT_EQUAL(look(&f, f.file, f.file), TRUST_WRITABLE);
    finish(&f);
}

/* The folder is written to by others, and only the link leads through it. */
static void test_way_of_a_link_counts(void)
{
    struct fixture f;
    char link[256], open_folder[256], through[512];

    begin(&f);
    CU_ASSERT_EQUAL(mkdir(workspace_path(&f.workspace, "open", open_folder), 0700), 0);
    CU_ASSERT_EQUAL(chmod(open_folder, 0777), 0);
    (void)snprintf(through, sizeof through, "%s/../folder/file", open_folder);
    CU_ASSERT_EQUAL(symlink(through, workspace_path(&f.workspace, "absolute", link)), 0);
    CU_ASSERT_EQUAL(look(&f, link, open_folder), TRUST_WRITABLE);
    CU_ASSERT_EQUAL(symlink("folder/file", workspace_path(&f.workspace, "relative", link)), 0);
    CU_ASSERT_EQUAL(look(&f, link, NULL), TRUST_SAFE);
    finish(&f);
}

static void test_relative_path_begins_where_the_process_is(void)
{
    struct fixture f;
    char before[256];

    begin(&f);
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(before, sizeof before));
    CU_ASSERT_EQUAL(chdir(f.folder), 0);
    CU_ASSERT_EQUAL(look(&f, "file", NULL), TRUST_SAFE);
    CU_ASSERT_EQUAL(chmod(f.folder, 0777), 0);
    CU_ASSERT_EQUAL(look(&f, "./file", f.folder), TRUST_WRITABLE);
    CU_ASSERT_EQUAL(chdir(before), 0);
    finish(&f);
}

static void test_path_that_leads_nowhere_is_an_error(void)
{
    struct fixture f;
    char link[256], name[600];

    begin(&f);
    CU_ASSERT_EQUAL(trust_look("/nonexistent/file", &f.trust), -ENOENT);
    CU_ASSERT_EQUAL(trust_look("/etc/passwd/file", &f.trust), -ENOTDIR);
    CU_ASSERT_EQUAL(symlink("round", workspace_path(&f.workspace, "round", link)), 0);
    CU_ASSERT_EQUAL(trust_look(link, &f.trust), -ELOOP);
    memset(name, 'x', sizeof name);
    name[0] = '/';
    name[sizeof name - 1] = '\0';
    CU_ASSERT_EQUAL(trust_look(name, &f.trust), -ENAMETOOLONG);
    finish(&f);
}

static void test_file_of_another_user_is_reported(void)
{
    struct fixture f;
    char text[512];

    if (geteuid() != 0)
        return;
    begin(&f);
    CU_ASSERT_EQUAL(chown(f.folder, SOMEBODY, SOMEBODY), 0);
    CU_ASSERT_EQUAL(look(&f, f.file, f.folder), TRUST_FOREIGN);
    trust_describe(&f.trust, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "belongs to user 65534"));
    CU_ASSERT_EQUAL(chown(f.folder, 0, 0), 0);
    CU_ASSERT_EQUAL(chown(f.file, SOMEBODY, SOMEBODY), 0);
    CU_ASSERT_EQUAL(look(&f, f.file, f.file), TRUST_FOREIGN);
    CU_ASSERT_EQUAL(seteuid(SOMEBODY), 0);
    CU_ASSERT_EQUAL(trust_look("/etc/passwd", &f.trust), 0);
    CU_ASSERT_EQUAL(f.trust.flaw, TRUST_SAFE); /* root may do what it likes anyway */
    CU_ASSERT_EQUAL(seteuid(0), 0);
    /* A foreign writer is a worse flaw than a foreign owner. */
    CU_ASSERT_EQUAL(chmod(f.file, 0666), 0);
    CU_ASSERT_EQUAL(chown(f.folder, SOMEBODY, SOMEBODY), 0);
    CU_ASSERT_EQUAL(look(&f, f.file, f.file), TRUST_WRITABLE);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "own file", test_own_file_below_a_sticky_folder_is_safe },
        { "others may write", test_file_that_others_may_write_to_is_reported_at_its_place },
        { "way of a link", test_way_of_a_link_counts },
        { "relative path", test_relative_path_begins_where_the_process_is },
        { "nowhere", test_path_that_leads_nowhere_is_an_error },
        { "somebody else", test_file_of_another_user_is_reported },
        CU_TEST_INFO_NULL,
    };

    return suite_run("trust", tests);
}
