/*
 * Goal: a check refuses a file of state in a folder where any user could replace it, at its line,
 * with the folder and its mode. Shows promise B50.
 * Method: folders of several modes, for a position and for the file of dead letters. Another owner
 * is no mistake here, as the host may run as that user.
 */
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

int main(void)
{
    CU_TestInfo tests[] = {
        { "folders", test_state_in_a_folder_that_others_may_write_is_a_mistake },
        CU_TEST_INFO_NULL,
    };

    return suite_run("config state_files", tests);
}
