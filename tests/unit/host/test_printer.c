/* SPDX-License-Identifier: MIT */
/*
 * Goal: text of workers that standard output refuses is logged once, with the reason, and counted;
 * a reader that does not read blocks no thread, and gets all text in order later. Shows promise H7
 * and promise H10. Method: the test replaces the descriptor of standard output by /dev/full,
 * /dev/null, and a pipe that it reads, or does not.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/log/printer.h"
#include "suite.h"

#define WAIT_LIMIT_MS 60000
#define LINE_SIZE 8u

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
    stage->sink = (struct log_sink){ .write = take_line, .context = stage };
    stage->screen = screen_create(stage->output, STDERR_FILENO);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage->screen);
    CU_ASSERT_EQUAL_FATAL(printer_init(&stage->printer, stage->screen, &stage->sink), 0);
}

static void stage_end(struct stage *stage)
{
    printer_finish(&stage->printer);
    screen_destroy(stage->screen);
    close(stage->output);
}

static void print(struct stage *stage, const char *text)
{
    printer_print(&stage->printer, text, strlen(text));
    CU_ASSERT_TRUE(printer_flush(&stage->printer, WAIT_LIMIT_MS));
}

static void test_full_disk_is_reported_once_and_counted(void)
{
    struct stage stage;

    stage_begin(&stage);
    print(&stage, "well\n");
    CU_ASSERT_EQUAL(printer_lost_bytes(&stage.printer), 0);
    CU_ASSERT_EQUAL(stage.lines, 0);
    lay_over(&stage, "/dev/full");
    for (int i = 0; i < 100; i++)
        print(&stage, "lost\n");
    CU_ASSERT_EQUAL(stage.lines, 1);
    CU_ASSERT_STRING_EQUAL(stage.reason, "No space left on device");
    CU_ASSERT_EQUAL(printer_lost_bytes(&stage.printer), 500);
    stage_end(&stage);
}

static void test_second_failure_is_reported_again(void)
{
    struct stage stage;

    stage_begin(&stage);
    for (unsigned i = 1; i <= 3; i++) {
        lay_over(&stage, "/dev/full");
        print(&stage, "lost\n");
        lay_over(&stage, "/dev/null");
        print(&stage, "well\n");
        CU_ASSERT_EQUAL(stage.lines, i);
        CU_ASSERT_EQUAL(printer_lost_bytes(&stage.printer), 5 * i);
    }
    stage_end(&stage);
}

static void become_empty(void *context)
{
    atomic_store((_Atomic bool *)context, true);
}

/* Lines with growing numbers until no more are wanted; how many. */
static uint32_t fill(struct printer *printer)
{
    char line[LINE_SIZE + 1];
    uint32_t count = 0;

    while (!printer_is_full(printer)) {
        (void)snprintf(line, sizeof line, "%07u\n", count++ % 10000000);
        printer_print(printer, line, LINE_SIZE);
    }
    return count;
}

static void read_lines(FILE *reader, uint32_t count)
{
    char line[LINE_SIZE + 1];
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < count; i++)
        wrong += !fgets(line, sizeof line, reader) || strtoul(line, NULL, 10) != i;
    CU_ASSERT_EQUAL(wrong, 0);
}

/* promise H10 */
static void test_reader_that_does_not_read_holds_up_nobody(void)
{
    _Atomic bool is_empty = false;
    struct stage stage;
    FILE *reader;
    int ends[2];
    uint32_t count;

    stage_begin(&stage);
    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
    CU_ASSERT_EQUAL_FATAL(dup2(ends[1], stage.output), stage.output);
    close(ends[1]);
    count = fill(&stage.printer);
    CU_ASSERT_TRUE(count * LINE_SIZE >= PRINTER_BOUND);
    CU_ASSERT_FALSE(printer_flush(&stage.printer, 0));
    CU_ASSERT_FALSE(printer_end(&stage.printer, become_empty, &is_empty));
    CU_ASSERT_TRUE(printer_lost_bytes(&stage.printer) >= PRINTER_BOUND);
    reader = fdopen(ends[0], "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
    read_lines(reader, count);
    CU_ASSERT_TRUE(printer_flush(&stage.printer, WAIT_LIMIT_MS));
    CU_ASSERT_TRUE(atomic_load(&is_empty));
    CU_ASSERT_TRUE(printer_end(&stage.printer, become_empty, &is_empty));
    CU_ASSERT_FALSE(printer_is_full(&stage.printer));
    CU_ASSERT_EQUAL(printer_lost_bytes(&stage.printer), 0);
    stage_end(&stage);
    (void)fclose(reader);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "full disk", test_full_disk_is_reported_once_and_counted },
        { "again", test_second_failure_is_reported_again },
        { "stalled", test_reader_that_does_not_read_holds_up_nobody },
        CU_TEST_INFO_NULL,
    };

    return suite_run("printer", tests);
}
