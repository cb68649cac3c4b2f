/* SPDX-License-Identifier: MIT */
/*
 * Goal: no file that keeps a state is made, read or replaced in a folder where another user than
 * root could replace it, nor when another user owns the file; and the reason names the folder.
 *
 * Method: each kind of file in each kind of folder. Only root can give files and folders away: for
 * any other user those rows have an owner of their own, and succeed. Shows promise B50.
 */
#include <sys/stat.h>
#include <weir/plugin.h>
#include <weir/settling.h>

#include "host/dead/dead_output.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"

#define OTHER 12345u /* a user without an account */

/* --- kinds of files --------------------------------------------------------------------------- */

static int save_place(const char *path)
{
    return weir_settling_save(path, 7);
}

static int load_place(const char *path)
{
    uint64_t place;

    return weir_settling_load(path, &place);
}

static int lock_place(const char *path)
{
    int lock, error = weir_settling_lock(path, &lock);

    weir_settling_unlock(lock);
    return error;
}

static int store_dead_letters(const char *path)
{
    struct dead_output *output = NULL;
    int error = dead_output_open(path, &output);

    dead_output_close(output);
    return error;
}

static const struct kind {
    int (*use)(const char *path);
    const char *foreign; /* what is behind the name of the file that another user owns */
    bool goes;           /* such a file is a left-over: root removes it */
} kinds[] = {
    { save_place, "", false },      { save_place, ".new", true },      { load_place, "", false },
    { lock_place, ".lock", false }, { store_dead_letters, "", false },
};

/* --- kinds of folders ------------------------------------------------------------------------- */

static const struct folder {
    mode_t mode;
    bool is_foreign;    /* another user owns the folder */
    bool has_foreign;   /* another user owns the file */
    const char *reason; /* NULL: it succeeds */
} folders[] = {
    { 0700, false, false, NULL },          { 0755, false, false, NULL },
    { 01777, false, false, NULL },         { 01775, false, false, NULL },
    { 0755, false, true, "another user" }, { 01777, false, true, "another user" },
    { 0777, false, false, "(mode 0777)" }, { 0775, false, false, "(mode 0775)" },
    { 0757, false, false, "(mode 0757)" }, { 0777, false, true, "(mode 0777)" },
    { 0755, true, false, "user 12345" },   { 0755, true, true, "user 12345" },
    { 01777, true, false, "user 12345" },
};

static void give_away(const char *path)
{
    if (geteuid() == 0)
        CU_ASSERT_EQUAL_FATAL(chown(path, OTHER, (gid_t)-1), 0);
}

static void make_empty(const char *path)
{
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    CU_ASSERT_TRUE_FATAL(descriptor >= 0);
    (void)close(descriptor);
}

static bool is_refused(const struct kind *kind, const struct folder *folder)
{
    const bool is_shared = folder->reason && *folder->reason == '(';
    const bool is_foreign = geteuid() == 0 &&
                            (folder->is_foreign || (folder->has_foreign && !kind->goes));

    return is_shared || is_foreign;
}

/* Makes the file as the kind has it. The one that is read has a place in it. */
static void make_file(const struct kind *kind, const char *path, bool is_foreign)
{
    char beside[300];

    (void)snprintf(beside, sizeof beside, "%s%s", path, kind->foreign);
    if (kind->use == load_place) {
        CU_ASSERT_EQUAL_FATAL(weir_settling_save(path, 7), 0);
    } else if (is_foreign) {
        make_empty(beside);
    }
    if (is_foreign)
        give_away(beside);
}

static void use_in(const struct kind *kind, const struct folder *folder)
{
    char path[256], text[512] = "";
    struct workspace work;
    size_t before;
    int error;

    workspace_init(&work);
    (void)workspace_path(&work, "state", path);
    make_file(kind, path, folder->has_foreign);
    before = workspace_count(work.path);
    CU_ASSERT_EQUAL_FATAL(chmod(work.path, folder->mode), 0);
    if (folder->is_foreign)
        give_away(work.path);
    error = kind->use(path);
    CU_ASSERT_EQUAL(error, is_refused(kind, folder) ? EPERM : 0);
    if (error != 0) {
        CU_ASSERT_EQUAL(workspace_count(work.path), before);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(weir_settling_reason(path, error, text, sizeof text), folder->reason));
    }
    if (error != 0 && folder->reason && strcmp(folder->reason, "another user") != 0)
        CU_ASSERT_PTR_NOT_NULL(strstr(text, work.path));
    CU_ASSERT_EQUAL_FATAL(chmod(work.path, 0700), 0);
    workspace_finish(&work);
}

/* promise B50 */
static void test_state_is_kept_where_only_this_user_and_root_can_replace_it(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
            use_in(&kinds[i], &folders[k]);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "folders", test_state_is_kept_where_only_this_user_and_root_can_replace_it },
        CU_TEST_INFO_NULL,
    };

    return suite_run("host state_folders", tests);
}
