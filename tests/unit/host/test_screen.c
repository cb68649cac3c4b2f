/* SPDX-License-Identifier: MIT */
/*
 * Goal: a progress line never mixes with log lines and printed text, and text is written whole.
 * Method: a pseudo-terminal for standard error, a pipe for standard output.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <termios.h>
#include <unistd.h>

#include "host/log/screen.h"
#include "suite.h"
#include "unit/support/gate.h"
#include <weir/status.h>

#define WAIT_LIMIT_MS 30000 /* after that the expected text is missing */
#define WIPE "\r\033[K"

struct stage {
    int master; /* what the terminal shows is read here */
    int terminal;
    int output[2];
    struct screen *screen;
    struct gate logged;
};

/* A bare root has no /dev/pts: as root we mount one for this process alone. */
static void mount_pseudo_terminals(void)
{
    int probe = posix_openpt(O_RDWR | O_NOCTTY);
    char *name = probe >= 0 ? ptsname(probe) : NULL;

    if ((!name || access(name, F_OK) != 0) && geteuid() == 0 && unshare(CLONE_NEWNS) == 0) {
        (void)mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
        (void)mount("devpts", "/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=620");
    }
    if (probe >= 0)
        close(probe);
}

static void stage_begin(struct stage *stage)
{
    struct winsize size = { .ws_row = 24, .ws_col = 61 };
    struct termios raw;

    setenv("TERM", "xterm", 1);
    gate_init(&stage->logged);
    mount_pseudo_terminals();
    CU_ASSERT_EQUAL_FATAL(openpty(&stage->master, &stage->terminal, NULL, NULL, &size), 0);
    CU_ASSERT_EQUAL_FATAL(tcgetattr(stage->terminal, &raw), 0);
    cfmakeraw(&raw);
    CU_ASSERT_EQUAL_FATAL(tcsetattr(stage->terminal, TCSANOW, &raw), 0);
    CU_ASSERT_EQUAL_FATAL(fcntl(stage->master, F_SETFL, O_NONBLOCK), 0);
    CU_ASSERT_EQUAL_FATAL(pipe2(stage->output, O_NONBLOCK), 0);
}

static void stage_end(struct stage *stage)
{
    screen_destroy(stage->screen);
    gate_finish(&stage->logged);
    close(stage->master);
    close(stage->terminal);
    close(stage->output[0]);
    close(stage->output[1]);
}

/* The text since the last call; waits for the expected number of bytes. A terminal delivers bytes a
 * moment after they were written. */
static const char *shown_at(int descriptor, size_t expected)
{
    static char text[8192];
    size_t size = 0;

    while (size < expected) {
        struct pollfd readable = { .fd = descriptor, .events = POLLIN };
        ssize_t count;

        if (poll(&readable, 1, WAIT_LIMIT_MS) <= 0)
            break;
        count = read(descriptor, text + size, sizeof text - 1 - size);
        if (count <= 0)
            break;
        size += (size_t)count;
    }
    text[size] = '\0';
    return text;
}

/* Exactly this text has arrived, and no more. */
static void check_shown(int descriptor, const char *expected)
{
    struct pollfd readable = { .fd = descriptor, .events = POLLIN };

    CU_ASSERT_STRING_EQUAL(shown_at(descriptor, strlen(expected)), expected);
    CU_ASSERT_EQUAL(poll(&readable, 1, 0), 0);
}

static void test_status_is_wiped_before_a_line_and_drawn_after(void)
{
    struct stage stage;

    stage_begin(&stage);
    stage.screen = screen_create(stage.output[1], stage.terminal);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage.screen);
    CU_ASSERT_TRUE(screen_can_show_status(stage.screen));
    CU_ASSERT_EQUAL(screen_width(stage.screen), 61);
    screen_status(stage.screen, "50%");
    check_shown(stage.master, WIPE "50%");
    CU_ASSERT_EQUAL(screen_log(stage.screen, "line\n", 5), WEIR_OK);
    check_shown(stage.master, WIPE "line\n50%");
    screen_status(stage.screen, "");
    check_shown(stage.master, WIPE);
    CU_ASSERT_EQUAL(screen_log(stage.screen, "line\n", 5), WEIR_OK);
    check_shown(stage.master, "line\n");
    stage_end(&stage);
}

static void test_printing_elsewhere_leaves_the_status(void)
{
    struct stage stage;

    stage_begin(&stage);
    stage.screen = screen_create(stage.output[1], stage.terminal);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage.screen);
    screen_status(stage.screen, "50%");
    check_shown(stage.master, WIPE "50%");
    CU_ASSERT_EQUAL(screen_print(stage.screen, "text\n", &(size_t){ 5 }, NULL), WEIR_OK);
    check_shown(stage.output[0], "text\n");
    check_shown(stage.master, "");
    stage_end(&stage);
}

static void test_printing_on_the_same_terminal_wipes_the_status(void)
{
    struct stage stage;

    stage_begin(&stage);
    stage.screen = screen_create(stage.terminal, stage.terminal);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage.screen);
    screen_status(stage.screen, "50%");
    check_shown(stage.master, WIPE "50%");
    CU_ASSERT_EQUAL(screen_print(stage.screen, "text\n", &(size_t){ 5 }, NULL), WEIR_OK);
    check_shown(stage.master, WIPE "text\n50%");
    stage_end(&stage);
}

/* --- a terminal that its user has stopped --------------------------------------------------- */

#define MUCH ((size_t)1024 * 1024) /* more than any terminal keeps for its reader */

static void *print_much(void *argument)
{
    struct stage *stage = argument;
    size_t left = MUCH;
    char *text = calloc(1, MUCH);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'x', MUCH);
    CU_ASSERT_EQUAL(screen_print(stage->screen, text, &left, &(int){ 0 }), WEIR_OK);
    free(text);
    return NULL;
}

static void *log_and_show(void *argument)
{
    struct stage *stage = argument;

    CU_ASSERT_EQUAL(screen_log(stage->screen, "line\n", 5), WEIR_EFULL);
    screen_status(stage->screen, "50%");
    gate_open(&stage->logged);
    return NULL;
}

/* Reads printed text until the whole text has arrived, and the printing threads have gone on. */
static void read_all(struct stage *stage)
{
    size_t count = 0;

    while (count < MUCH) {
        struct pollfd readable = { .fd = stage->master, .events = POLLIN };
        char text[8192];
        ssize_t size;

        if (poll(&readable, 1, WAIT_LIMIT_MS) <= 0)
            break;
        size = read(stage->master, text, sizeof text);
        for (ssize_t i = 0; i < size; i++)
            count += text[i] == 'x';
    }
    CU_ASSERT_EQUAL(count, MUCH);
}

static bool is_printing(struct stage *stage)
{
    struct pollfd readable = { .fd = stage->master, .events = POLLIN };

    return poll(&readable, 1, WAIT_LIMIT_MS) > 0;
}

/* promise H10 */
static void test_stopped_terminal_holds_up_only_those_who_print(void)
{
    struct stage stage;
    pthread_t printing, logging;

    stage_begin(&stage);
    stage.screen = screen_create(stage.terminal, stage.terminal);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage.screen);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&printing, NULL, print_much, &stage), 0);
    CU_ASSERT_TRUE(is_printing(&stage));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&logging, NULL, log_and_show, &stage), 0);
    CU_ASSERT_TRUE(gate_pass(&stage.logged));
    read_all(&stage);
    pthread_join(printing, NULL);
    pthread_join(logging, NULL);
    CU_ASSERT_EQUAL(screen_log(stage.screen, "line\n", 5), WEIR_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(shown_at(stage.master, 5), "line\n"));
    stage_end(&stage);
}

static void test_without_a_terminal_there_is_no_status(void)
{
    struct stage stage;

    stage_begin(&stage);
    stage.screen = screen_create(stage.output[1], stage.output[1]);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage.screen);
    CU_ASSERT_FALSE(screen_can_show_status(stage.screen));
    screen_status(stage.screen, "50%");
    check_shown(stage.output[0], "");
    stage_end(&stage);
}

static void test_terminal_that_cannot_move_its_cursor_has_no_status(void)
{
    struct stage stage;

    stage_begin(&stage);
    setenv("TERM", "dumb", 1);
    stage.screen = screen_create(stage.terminal, stage.terminal);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage.screen);
    CU_ASSERT_FALSE(screen_can_show_status(stage.screen));
    stage_end(&stage);
}

static void test_reader_that_left_is_reported(void)
{
    struct stage stage;
    int error = 0;

    stage_begin(&stage);
    stage.screen = screen_create(stage.output[1], stage.terminal);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage.screen);
    close(stage.output[0]);
    CU_ASSERT_EQUAL(screen_print(stage.screen, "text\n", &(size_t){ 5 }, &error), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(error, EPIPE);
    stage.output[0] = -1;
    stage_end(&stage);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "status around a line", test_status_is_wiped_before_a_line_and_drawn_after },
        { "printing elsewhere", test_printing_elsewhere_leaves_the_status },
        { "printing on the terminal", test_printing_on_the_same_terminal_wipes_the_status },
        { "stopped terminal", test_stopped_terminal_holds_up_only_those_who_print },
        { "no terminal, no status", test_without_a_terminal_there_is_no_status },
        { "dumb terminal", test_terminal_that_cannot_move_its_cursor_has_no_status },
        { "reader that left", test_reader_that_left_is_reported },
        CU_TEST_INFO_NULL,
    };

    signal(SIGPIPE, SIG_IGN);
    return suite_run("screen", tests);
}
