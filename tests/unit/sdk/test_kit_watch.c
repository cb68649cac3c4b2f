/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit has watched descriptors: it refuses those that the host refuses, reports
 * readiness once, on its own or on the test's demand, and finds a descriptor that is closed while
 * watched.
 * Method: a behaviour that watches one end of a pipe from `open` on, and counts the reports.
 */
#include <fcntl.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "unit/host/suite.h"

static int ends[2]; /* of the pipe: read, write */

struct state {
    uint64_t watch;
    uint32_t reports;
    int readiness;
    bool again;
};

static void ready(struct weir_self *self, void *state_, void *context, int descriptor, int reports)
{
    struct state *state = state_;
    char byte;

    CU_ASSERT_PTR_EQUAL(context, &ends);
    state->reports++;
    state->readiness = reports;
    if (reports > 0)
        CU_ASSERT_EQUAL(read(descriptor, &byte, 1), 1);
    if (state->again)
        CU_ASSERT_EQUAL(weir_watch(self, descriptor, WEIR_READABLE, ready, context, &state->watch),
                        0);
}

static int open_it(struct weir_self *self, const void *settings, void *state_)
{
    struct state *state = state_;

    (void)settings;
    return weir_watch(self, ends[0], WEIR_READABLE, ready, &ends, &state->watch);
}

static int handle(struct weir_self *self, void *state_, const struct weir_message *message)
{
    const int *order = message->data; /* descriptor, events, expected result */
    struct state *state = state_;

    if (order[1] < 0)
        return weir_unwatch(self, state->watch) == order[2] ? WEIR_DONE : WEIR_REJECT;
    return weir_watch(self, order[0], (uint32_t)order[1], ready, &ends, NULL) == order[2]
               ? WEIR_DONE
               : WEIR_REJECT;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "waits", .state_size = sizeof(struct state), .open = open_it, .handle = handle },
    { 0 },
};
WEIR_PLUGIN("waits", "1.0.0", behaviours);

static struct weir_kit *begin(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "waits");

    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    return kit;
}

static void finish(struct weir_kit *kit, size_t problems)
{
    close(ends[1]);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), problems);
}

static void expect(struct weir_kit *kit, int descriptor, int events, int status)
{
    const int order[3] = { descriptor, events, status };

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "order/1", order, sizeof order), WEIR_DONE);
}

static void test_ready_descriptor_is_reported_once_and_again_when_watched_again(void)
{
    struct weir_kit *kit = begin();
    struct state *state = weir_kit_state(kit);

    CU_ASSERT_EQUAL(weir_kit_poll(kit), 0);
    CU_ASSERT_EQUAL(write(ends[1], "ab", 2), 2);
    state->again = true;
    CU_ASSERT_EQUAL(weir_kit_poll(kit), 1); /* watches begun meanwhile wait */
    CU_ASSERT_EQUAL(state->reports, 1);
    CU_ASSERT_EQUAL(state->readiness, WEIR_READABLE);
    state->again = false;
    CU_ASSERT_EQUAL(weir_kit_poll(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_poll(kit), 0);
    CU_ASSERT_EQUAL(state->reports, 2);
    CU_ASSERT_EQUAL(weir_kit_watch_count(kit), 0);
    close(ends[0]);
    finish(kit, 0);
}

static void test_test_says_what_is_ready(void)
{
    struct weir_kit *kit = begin();
    struct state *state = weir_kit_state(kit);

    CU_ASSERT_EQUAL(weir_kit_ready(kit, ends[0], WEIR_WRITABLE), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_kit_ready(kit, ends[0], WEIR_EINVALID), 0);
    CU_ASSERT_EQUAL(state->readiness, WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_kit_ready(kit, ends[0], WEIR_READABLE), WEIR_EUNKNOWN);
    close(ends[0]);
    finish(kit, 0);
}

static void test_wrong_watches_are_refused_as_the_host_does(void)
{
    struct weir_kit *kit = begin();
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    expect(kit, ends[0], WEIR_READABLE, WEIR_EEXISTS);
    expect(kit, ends[1], 0, WEIR_EINVALID);
    expect(kit, ends[1], 4, WEIR_EINVALID);
    expect(kit, -1, WEIR_READABLE, WEIR_EINVALID);
    expect(kit, 100000, WEIR_READABLE, WEIR_EINVALID);
    expect(kit, file, WEIR_READABLE, WEIR_EUNSUPPORTED);
    weir_kit_fail_allocation(kit, 1);
    expect(kit, ends[1], WEIR_WRITABLE, WEIR_ENOMEM);
    expect(kit, 0, -1, 0);
    expect(kit, 0, -1, WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_kit_watch_count(kit), 0);
    close(file);
    close(ends[0]);
    finish(kit, 0);
}

static void test_descriptor_closed_under_its_watch_is_a_problem(void)
{
    struct weir_kit *kit = begin();
    struct state *state = weir_kit_state(kit);

    close(ends[0]);
    CU_ASSERT_EQUAL(weir_kit_poll(kit), 1);
    CU_ASSERT_EQUAL(state->readiness, WEIR_EINVALID);
    finish(kit, 1);
}

static void test_watches_end_with_the_worker(void)
{
    struct weir_kit *kit = begin();

    CU_ASSERT_EQUAL(weir_kit_watch_count(kit), 1);
    weir_kit_close(kit, WEIR_END_NORMAL);
    CU_ASSERT_EQUAL(weir_kit_watch_count(kit), 0);
    close(ends[0]);
    finish(kit, 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "ready", test_ready_descriptor_is_reported_once_and_again_when_watched_again },
        { "said", test_test_says_what_is_ready },
        { "wrong", test_wrong_watches_are_refused_as_the_host_does },
        { "closed", test_descriptor_closed_under_its_watch_is_a_problem },
        { "end", test_watches_end_with_the_worker },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: test kit, watched descriptors", tests);
}
