/* SPDX-License-Identifier: MIT */
/*
 * Goal:   stdout.write writes every message whole and in order, waits for a slow reader without a
 *         thread, and asks the host to end, once, when the reader has left.
 * Method: standard output of the test program is a pipe of the test's own while a worker is open;
 *         TERM is blocked, and looked for.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"

extern const struct weir_plugin weir_plugin_v1;

struct pipe_output {
    int reader;
    int former; /* standard output of the test program */
};

/* Makes standard output a pipe. */
static struct pipe_output begin_pipe(void)
{
    struct pipe_output output = { .former = dup(STDOUT_FILENO) };
    int ends[2];

    fflush(stdout);
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    CU_ASSERT_EQUAL_FATAL(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
    (void)close(ends[1]);
    output.reader = ends[0];
    return output;
}

static void end_pipe(const struct pipe_output *output)
{
    fflush(stdout);
    CU_ASSERT_EQUAL(dup2(output->former, STDOUT_FILENO), STDOUT_FILENO);
    (void)close(output->former);
}

static struct weir_kit *worker(const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "write");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args), 0);
    return kit;
}

static void gather(struct weir_kit *kit, const char *text)
{
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", text, strlen(text)), WEIR_KEEP);
}

/* As the host does with a message that comes alone. */
static int give(struct weir_kit *kit, const char *text)
{
    gather(kit, text);
    return weir_kit_flush(kit);
}

static bool has_bytes(int reader)
{
    struct pollfd look = { .fd = reader, .events = POLLIN };

    return poll(&look, 1, 0) > 0;
}

static void expect_read(int reader, const char *text, size_t size)
{
    char bytes[256] = "";

    CU_ASSERT_EQUAL(read(reader, bytes, sizeof bytes), (ssize_t)size);
    CU_ASSERT_EQUAL(memcmp(bytes, text, size), 0);
}

static void expect_written(const char *args, const char *text, size_t size)
{
    struct pipe_output output = begin_pipe();
    struct weir_kit *kit = worker(args);

    gather(kit, "one");
    gather(kit, "");
    CU_ASSERT_FALSE(has_bytes(output.reader));
    CU_ASSERT_EQUAL(give(kit, "two\n"), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 3);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "messages"), 3);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    end_pipe(&output);
    expect_read(output.reader, text, size);
    (void)close(output.reader);
}

static void test_messages_end_with_what_the_option_says(void)
{
    expect_written("", "one\n\ntwo\n", 9);
    expect_written("end: none", "onetwo\n", 7);
    expect_written("end: nul", "one\0\0two\n", 10);
}

static void test_slow_reader_makes_it_wait(void)
{
    struct pipe_output output = begin_pipe();
    struct weir_kit *kit = worker("");
    size_t size = (size_t)300 * 1024, got = 0;
    char *bytes = malloc(size), *read_back = malloc(size + 1);

    CU_ASSERT_TRUE_FATAL(bytes && read_back);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)('a' + i % 23);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", bytes, size), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_poll(kit), 0);
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(kit, (const char *[]){ "waits", NULL }), "waits=yes\n");
    while (got < size + 1) {
        ssize_t now = read(output.reader, read_back + got, size + 1 - got);

        CU_ASSERT_TRUE_FATAL(now > 0);
        got += (size_t)now;
        (void)weir_kit_poll(kit);
    }
    CU_ASSERT_EQUAL(memcmp(bytes, read_back, size), 0);
    CU_ASSERT_EQUAL(read_back[size], '\n');
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
    CU_ASSERT_EQUAL(give(kit, "next"), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    end_pipe(&output);
    (void)close(output.reader);
    free(bytes);
    free(read_back);
}

/* promise B98: messages that a pipe takes in part are settled as they are written. */
static void test_many_messages_wait_for_a_slow_reader_in_order(void)
{
    enum { COUNT = 1000, WIDTH = 200 };
    struct pipe_output output = begin_pipe();
    struct weir_kit *kit = worker("");
    char text[WIDTH + 1], line[WIDTH + 1];
    uint32_t number = 0, given = 0;
    size_t got = 0;

    /* The host gives none while the worker demands none. */
    while (number < COUNT) {
        char byte;

        while (given < COUNT && weir_kit_demand(kit) > 0 && !weir_kit_watch_count(kit)) {
            (void)snprintf(text, sizeof text, "%0*" PRIu32, WIDTH - 1, given++);
            gather(kit, text);
            if (weir_kit_demand(kit) == 0 || given == COUNT)
                (void)weir_kit_flush(kit);
        }
        CU_ASSERT_EQUAL_FATAL(read(output.reader, &byte, 1), 1);
        line[got++] = byte;
        if (got == WIDTH) {
            (void)snprintf(text, sizeof text, "%0*" PRIu32 "\n", WIDTH - 1, number++);
            CU_ASSERT_EQUAL_FATAL(memcmp(line, text, WIDTH), 0);
            got = 0;
        }
        CU_ASSERT_TRUE(weir_kit_settled_count(kit, WEIR_DONE) <= number + (65536 / WIDTH) + 1);
        (void)weir_kit_poll(kit);
    }
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), COUNT);
    CU_ASSERT_FALSE(has_bytes(output.reader));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    end_pipe(&output);
    (void)close(output.reader);
}

/* promise B98: a file that takes no more than 10 bytes. */
static void test_each_message_of_a_failed_write_has_its_own_fate(void)
{
    struct pipe_output output = begin_pipe();
    char path[] = "/tmp/stdout.XXXXXX", bytes[32] = "";
    int file = mkstemp(path);
    struct rlimit former, limit;
    struct weir_kit *kit;

    CU_ASSERT_EQUAL_FATAL(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_FSIZE, &former), 0);
    limit = (struct rlimit){ 10, former.rlim_max };
    kit = worker("");
    gather(kit, "one");
    gather(kit, "two");
    gather(kit, "three");
    gather(kit, "four");
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    (void)weir_kit_flush(kit);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &former), 0);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 2);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_REJECT), 2);
    CU_ASSERT_EQUAL(give(kit, "five"), WEIR_DONE);
    CU_ASSERT_EQUAL(pread(file, bytes, sizeof bytes, 0), 15);
    CU_ASSERT_STRING_EQUAL(bytes, "one\ntwo\nthfive\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    end_pipe(&output);
    (void)close(output.reader);
    (void)close(file);
    (void)unlink(path);
}

static bool term_is_pending(void)
{
    sigset_t pending;

    CU_ASSERT_EQUAL(sigpending(&pending), 0);
    return sigismember(&pending, SIGTERM);
}

static void test_reader_that_has_left_ends_the_host_once(void)
{
    struct pipe_output output = begin_pipe();
    struct weir_kit *kit = worker("");
    sigset_t term;
    int got;

    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    CU_ASSERT_EQUAL_FATAL(sigprocmask(SIG_BLOCK, &term, NULL), 0);
    (void)close(output.reader);
    CU_ASSERT_EQUAL(give(kit, "lost"), WEIR_DONE);
    CU_ASSERT_TRUE_FATAL(term_is_pending());
    CU_ASSERT_EQUAL(sigwait(&term, &got), 0);
    CU_ASSERT_EQUAL(give(kit, "lost"), WEIR_DONE);
    CU_ASSERT_FALSE(term_is_pending());
    CU_ASSERT_EQUAL(weir_kit_log_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "messages"), 0);
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(kit, (const char *[]){ "dropped", NULL }),
                           "dropped=2\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    CU_ASSERT_EQUAL(sigprocmask(SIG_UNBLOCK, &term, NULL), 0);
    end_pipe(&output);
}

static void test_full_disk_rejects(void)
{
    struct pipe_output output = begin_pipe();
    int full = open("/dev/full", O_WRONLY);
    struct weir_kit *kit;

    CU_ASSERT_EQUAL_FATAL(dup2(full, STDOUT_FILENO), STDOUT_FILENO);
    (void)close(full);
    kit = worker("");
    gather(kit, "lost");
    CU_ASSERT_EQUAL(give(kit, "lost"), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_REJECT), 2);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 0);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "not written: No space left on device");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    end_pipe(&output);
    (void)close(output.reader);
}

static void test_output_that_is_closed_refuses_to_open(void)
{
    struct pipe_output output = begin_pipe();
    int input = open("/dev/null", O_RDONLY); /* as the host has it when it starts with `>&-` */
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "write");

    CU_ASSERT_EQUAL_FATAL(dup2(input, STDOUT_FILENO), STDOUT_FILENO);
    (void)close(input);
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, ""), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "standard output is not open for writing");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    end_pipe(&output);
    (void)close(output.reader);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "ends of messages", test_messages_end_with_what_the_option_says },
        { "slow reader", test_slow_reader_makes_it_wait },
        { "many messages", test_many_messages_wait_for_a_slow_reader_in_order },
        { "failed write", test_each_message_of_a_failed_write_has_its_own_fate },
        { "reader that has left", test_reader_that_has_left_ends_the_host_once },
        { "full disk", test_full_disk_rejects },
        { "closed output", test_output_that_is_closed_refuses_to_open },
        CU_TEST_INFO_NULL,
    };

    (void)signal(SIGXFSZ, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN); /* as the host has it */
    return suite_run("plugin stdout", tests);
}
