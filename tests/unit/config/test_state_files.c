/* SPDX-License-Identifier: MIT */
/*
 * Goal: a check refuses a file of state in a folder where any user could replace it, at its line,
 * with the folder and its mode; and no option names a file of state to append to it. Shows
 * promises B50 and B51.
 * Method: folders of several modes, for a position and for the file of dead letters. Another owner
 * is no mistake here, as the host may run as that user.
 */
#include <string.h>
#include <sys/stat.h>

#include "unit/config/reading.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"

static const char *const texts[] = {
    "sources: {a: {use: gen.numbers, args: {position: %s/state}, to: end}}\n"
    "pools: {end: {use: sink.null}}\n",
    "host: {dead_letters: {file: %s/state}}\n"
    "sources: {a: {use: gen.numbers, to: end}}\n"
    "pools: {end: {use: sink.null}}\n",
};

static void check_in(const char *text, mode_t mode, bool is_right)
{
    struct settings *settings = NULL;
    char filled[512], wanted[128];
    struct workspace work;
    struct report report;

    workspace_init(&work);
    CU_ASSERT_EQUAL_FATAL(chmod(work.path, mode), 0);
    if (geteuid() == 0)
        CU_ASSERT_EQUAL_FATAL(chown(work.path, 12345, (gid_t)-1), 0);
    (void)snprintf(filled, sizeof filled, text, work.path);
    (void)snprintf(wanted, sizeof wanted, "folder %s (mode %04o)", work.path, (unsigned)mode);
    report_init(&report);
    CU_ASSERT_EQUAL(reading_check(filled, &fake_catalogue, &report, &settings),
                    is_right ? 0 : WEIR_EINVALID);
    CU_ASSERT_EQUAL(report_count(&report), is_right ? 0 : 1);
    if (report_count(&report) == 1)
        CU_ASSERT_PTR_NOT_NULL(strstr(report.errors.entries[0].reason, wanted));
    settings_destroy(settings);
    report_finish(&report);
    CU_ASSERT_EQUAL_FATAL(chmod(work.path, 0700), 0);
    workspace_finish(&work);
}

/* promise B50 */
static void test_state_in_a_folder_that_others_may_write_is_a_mistake(void)
{
    static const struct row {
        mode_t mode;
        bool is_right;
    } rows[] = {
        { 0700, true },  { 0755, true },  { 01777, true }, { 01770, true },
        { 0777, false }, { 0775, false }, { 0772, false }, { 02775, false },
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            check_in(texts[i], rows[k].mode, rows[k].is_right);
}

/* --- files that are appended to --------------------------------------------------------------- */

/* The files of `%s`, and what `c` appends to. */
static const char *const writing = "host: {control: %s/control, dead_letters: {file: %s/dead}}\n"
                                   "sources:\n"
                                   "  a: {use: gen.numbers, args: {position: %s/state}, to: end}\n"
                                   "  b: {use: gen.numbers, args: {log: %s/log}, to: end}\n"
                                   "  c: {use: gen.numbers, args: {log: %s/%s}, to: end}\n"
                                   "pools: {end: {use: sink.null}}\n";

static void append_to(const struct workspace *work, const char *file, const char *wanted)
{
    const char *in = work->path;
    struct settings *settings = NULL;
    struct report report;
    char text[1024];

    (void)snprintf(text, sizeof text, writing, in, in, in, in, in, file);
    report_init(&report);
    CU_ASSERT_EQUAL(reading_check(text, &fake_catalogue, &report, &settings),
                    wanted ? WEIR_EINVALID : 0);
    CU_ASSERT_EQUAL(report_count(&report), wanted ? 1 : 0);
    if (report_count(&report) == 1 && wanted) {
        CU_ASSERT_STRING_EQUAL(report.errors.entries[0].path, "sources.c.args.log");
        CU_ASSERT_STRING_EQUAL(report.errors.entries[0].reason, wanted);
    }
    settings_destroy(settings);
    report_finish(&report);
}

/* promise B51 */
static void test_file_that_keeps_a_state_is_not_appended_to(void)
{
    static const struct row {
        const char *file;
        const char *wanted; /* NULL: it is allowed */
    } rows[] = {
        { "state", "is the file of sources.a.args.position, too" },
        { "./state", "is the file of sources.a.args.position, too" },
        { "state.lock", "is the file of sources.a.args.position (its .lock), too" },
        { "state.new", "is the file of sources.a.args.position (its .new), too" },
        { "dead", "is the file of host.dead_letters.file, too" },
        { "control", "is the file of host.control, too" },
        { "log", NULL },
        { "other", NULL },
    };
    char state[256], link[256];
    struct workspace work;

    for (int is_there = 0; is_there < 2; is_there++) {
        workspace_init(&work);
        (void)workspace_path(&work, "state", state);
        if (is_there)
            workspace_write(state, "1\n", 2);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            append_to(&work, rows[i].file, rows[i].wanted);
        CU_ASSERT_EQUAL_FATAL(symlink(state, workspace_path(&work, "link", link)), 0);
        if (is_there)
            append_to(&work, "link", rows[0].wanted);
        workspace_finish(&work);
    }
}

/* --- while a position is saved ---------------------------------------------------------------- */

static bool saves; /* the file beside a position gets the number that the position had before */
static ino_t number;

int __real_fstatat(int folder, const char *path, struct stat *out, int flags);
int __wrap_fstatat(int folder, const char *path, struct stat *out, int flags);

int __wrap_fstatat(int folder, const char *path, struct stat *out, int flags)
{
    int result = __real_fstatat(folder, path, out, flags);

    if (!saves || result != 0)
        return result;
    if (strcmp(path + strlen(path) - 4, ".new") == 0)
        out->st_ino = number;
    else if (strstr(path, "/state"))
        number = out->st_ino;
    return 0;
}

/* promise B50 */
static void test_position_that_is_saved_between_two_looks_is_one_file(void)
{
    struct workspace work;
    char path[256];

    workspace_init(&work);
    workspace_write(workspace_path(&work, "state", path), "1\n", 2);
    workspace_write(workspace_path(&work, "state.new", path), "2\n", 2);
    saves = true;
    append_to(&work, "other", NULL);
    append_to(&work, "state", "is the file of sources.a.args.position, too");
    saves = false;
    workspace_finish(&work);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "folders", test_state_in_a_folder_that_others_may_write_is_a_mistake },
        { "outputs", test_file_that_keeps_a_state_is_not_appended_to },
        { "saves", test_position_that_is_saved_between_two_looks_is_one_file },
        CU_TEST_INFO_NULL,
    };

    return suite_run("config state_files", tests);
}
