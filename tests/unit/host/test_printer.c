/*
 * Goal: what workers print and standard output does not take is told once, with the reason, and
 * counted. Shows promise H7.
 * Method: standard output is a descriptor that the test lays over with /dev/full and /dev/null.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "host/log/printer.h"
#include "suite.h"

struct stage {
    int output;
    struct screen *screen;
    struct log_sink sink;
    struct printer printer;
    unsigned lines;
    char reason[64]; /* of the last line */
};

static void take_line(void *context, const struct log_line *line)
{
    struct stage *stage = context;

    stage->lines++;
    CU_ASSERT_EQUAL(line->level, WEIR_LOG_ERROR);
    CU_ASSERT_STRING_EQUAL(line->event, "standard output cannot be written");
    CU_ASSERT_STRING_EQUAL_FATAL(line->fields[0].key, "reason");
    (void)snprintf(stage->reason, sizeof stage->reason, "%s", line->fields[0].value.string);
}

static void lay_over(const struct stage *stage, const char *device)
{
    int opened = open(device, O_WRONLY | O_CLOEXEC);

    CU_ASSERT_FATAL(opened >= 0);
    CU_ASSERT_EQUAL_FATAL(dup2(opened, stage->output), stage->output);
    close(opened);
}

static void stage_begin(struct stage *stage)
{
    *stage = (struct stage){ .output = open("/dev/null", O_WRONLY | O_CLOEXEC) };
    stage->sink = (struct log_sink){ take_line, stage };
    stage->screen = screen_create(stage->output, STDERR_FILENO);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage->screen);
    stage->printer = (struct printer){ .screen = stage->screen, .sink = &stage->sink };
}

static void stage_end(struct stage *stage)
{
    screen_destroy(stage->screen);
    close(stage->output);
}

static void test_full_disk_is_told_once_and_counted(void)
{
    struct stage stage;

    stage_begin(&stage);
    printer_print(&stage.printer, "well\n", 5);
    CU_ASSERT_EQUAL(printer_lost_bytes(&stage.printer), 0);
    CU_ASSERT_EQUAL(stage.lines, 0);
    lay_over(&stage, "/dev/full");
    for (int i = 0; i < 100; i++)
        printer_print(&stage.printer, "lost\n", 5);
    CU_ASSERT_EQUAL(stage.lines, 1);
    CU_ASSERT_STRING_EQUAL(stage.reason, "No space left on device");
    CU_ASSERT_EQUAL(printer_lost_bytes(&stage.printer), 500);
    stage_end(&stage);
}

static void test_what_fails_again_is_told_again(void)
{
    struct stage stage;

    stage_begin(&stage);
    for (unsigned i = 1; i <= 3; i++) {
        lay_over(&stage, "/dev/full");
        printer_print(&stage.printer, "lost\n", 5);
        lay_over(&stage, "/dev/null");
        printer_print(&stage.printer, "well\n", 5);
        CU_ASSERT_EQUAL(stage.lines, i);
        CU_ASSERT_EQUAL(printer_lost_bytes(&stage.printer), 5 * i);
    }
    stage_end(&stage);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "full disk", test_full_disk_is_told_once_and_counted },
        { "again", test_what_fails_again_is_told_again },
        CU_TEST_INFO_NULL,
    };

    return suite_run("printer", tests);
}
