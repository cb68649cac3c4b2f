/* SPDX-License-Identifier: MIT */
/*
 * Goal: of the messages that a process has ahead, each has the verdict that the process gave it; at
 * its end the one that it had begun is blamed, and the others go back in order; what it says of
 * other messages ends it. Shows promise B145 and promise B146.
 *
 * Method: the host's side in the test kit, with a child that plays the process over the same memory
 * and does what each test wants.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/plugin.h>
#include <weir/testkit.h>

#include "base/clock.h"
#include "host/isolation/callbacks.h"
#include "host/isolation/window.h"
#include "suite.h"
#include "unit/host/window_process.h"

static void (*play)(struct process *);

/* --- the host --------------------------------------------------------------------------------- */

static struct isolated isolated;
static struct proxy *proxy;
static const struct weir_message *given[COUNT];
static uint32_t given_count;

static void run_process(struct segment *segment, int bell)
{
    static struct process process;

    if (channel_begin(&process.channel, segment, false, bell) != WEIR_OK)
        _exit(1);
    play(&process);
    for (;;)
        (void)pause(); /* until the host ends it */
}

static int open_it(struct weir_self *self, const void *settings, void *state)
{
    struct segment *segment = NULL;
    int bells[2], descriptor = segment_create(&segment);

    (void)settings;
    proxy = state;
    CU_ASSERT_FATAL(descriptor >= 0 &&
                    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bells) == 0);
    (void)close(descriptor);
    proxy->life.process = fork();
    if (proxy->life.process == 0) {
        (void)setpgid(0, 0);
        (void)close(bells[0]);
        run_process(segment, bells[1]);
    }
    (void)setpgid(proxy->life.process, proxy->life.process);
    (void)close(bells[1]);
    CU_ASSERT_EQUAL_FATAL(channel_begin(&proxy->channel, segment, true, bells[0]), WEIR_OK);
    proxy->life.end = pidfd_open(proxy->life.process, 0);
    proxy->life.lifeline = -1;
    proxy->channel.life = proxy->life.end;
    proxy->isolated = &isolated;
    proxy->runs = true;
    proxy->in_hand_max = proxy->demand = 1;
    window_open(self, proxy);
    return 0;
}

static int handle_it(struct weir_self *self, void *state, const struct weir_message *message)
{
    given[given_count++] = message;
    return window_handle(self, state, message);
}

static void reconfigure_it(struct weir_self *self, void *state, const void *settings)
{
    (void)settings;
    window_bound(self, state);
}

static void close_it(struct weir_self *self, void *state, int reason)
{
    char how[CALLBACKS_HOW_SIZE];

    (void)state;
    (void)reason;
    if (proxy->runs) {
        callbacks_kill(self, proxy, how);
        callbacks_forget(proxy);
    }
    proxy_finish(proxy);
}

static const struct weir_output outputs[] = { { .name = "out", .help = "what it emits" }, { 0 } };

static const struct weir_behaviour behaviours[] = {
    { .name = "stands_in",
      .outputs = outputs,
      .in_hand = DIALOGUE_WINDOW_MAX,
      .state_size = sizeof(struct proxy),
      .flags = WEIR_BLOCKING,
      .open = open_it,
      .handle = handle_it,
      .flush = window_flush,
      .close = close_it,
      .reconfigure = reconfigure_it },
    { 0 },
};

WEIR_PLUGIN("window", "1.0.0", behaviours);

static struct weir_kit *start(void (*plays)(struct process *))
{
    static const struct weir_behaviour inner = { .name = "plugin" };
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "stands_in");

    isolated.options = (struct isolated_options){
        .behaviour = &inner,
        .plugin = "plugin",
        .version = "1.0.0",
        .window = DIALOGUE_WINDOW_MAX,
        .timeout_ms = 60000,
    };
    play = plays;
    given_count = 0;
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    return kit;
}

static struct weir_kit *start_with_all(void (*plays)(struct process *))
{
    struct weir_kit *kit = start(plays);

    for (uint32_t i = 0; i < COUNT; i++)
        CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", "text", 4), WEIR_KEEP);
    return kit;
}

/* `kept`: messages that end with the worker. */
static void expect(struct weir_kit *kit, size_t done, size_t put_back, size_t kept)
{
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), done);
    CU_ASSERT_EQUAL(weir_kit_put_back_count(kit), put_back);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), kept);
}

static void finish(struct weir_kit *kit)
{
    weir_kit_close(kit, WEIR_END_CRASH);
    (void)weir_kit_destroy(kit);
}

/* --- verdicts --------------------------------------------------------------------------------- */

static void gives_each_a_verdict(struct process *process)
{
    struct parcel out = { 0 };

    end_next(process, WEIR_DONE);
    end_next(process, WEIR_RETRY);
    (void)begin(process);
    parcel_text(&out, "of the third");
    if (call(process, DIALOGUE_REASON, &out) != WEIR_OK)
        _exit(1);
    say(process, DIALOGUE_RETURN, process->numbers[2], WEIR_REJECT);
    while (process->next < COUNT)
        end_next(process, WEIR_DONE);
    parcel_finish(&out);
}

/* promise B145 */
static void test_each_message_has_its_own_verdict(void)
{
    struct weir_kit *kit = start_with_all(gives_each_a_verdict);

    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_KEEP);
    expect(kit, COUNT - 2, 0, 0);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_RETRY), 1);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_REJECT), 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), ""); /* that of the third is not the sixth's */
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit), "");
    CU_ASSERT_EQUAL(proxy->window.size, 2); /* all were settled, and quick */
    finish(kit);
}

static int second_verdict;

static void ends_the_window_with_the_second(struct process *process)
{
    end_next(process, WEIR_DONE);
    end_next(process, second_verdict);
    leave_untouched(process);
}

/* promise B146: after these the host decides what comes next. */
static void test_what_is_behind_the_end_of_a_window_goes_back(void)
{
    static const int verdicts[] = { WEIR_POSTPONE, WEIR_KEEP, WEIR_STOP, WEIR_FAIL };
    static const int answers[] = { WEIR_KEEP, WEIR_KEEP, WEIR_STOP, WEIR_FAIL };

    for (uint32_t i = 0; i < 4; i++) {
        struct weir_kit *kit;

        second_verdict = verdicts[i];
        kit = start_with_all(ends_the_window_with_the_second);
        CU_ASSERT_EQUAL(weir_kit_flush(kit), answers[i]);
        expect(kit, verdicts[i] == WEIR_STOP ? 2 : 1, COUNT - 2,
               verdicts[i] == WEIR_KEEP || verdicts[i] == WEIR_FAIL);
        CU_ASSERT_EQUAL(proxy->window.size, 1);
        finish(kit);
    }
}

static void settles_a_kept_one(struct process *process)
{
    struct parcel out = { 0 };

    end_next(process, WEIR_KEEP);
    (void)begin(process);
    parcel_number(&out, (uint64_t)(int64_t)WEIR_FAIL);
    parcel_number(&out, process->numbers[0]);
    if (call(process, DIALOGUE_SETTLE, &out) != WEIR_OK)
        _exit(1);
    say(process, DIALOGUE_RETURN, process->numbers[1], WEIR_DONE);
    leave_untouched(process);
    parcel_finish(&out);
}

/* promise B146: the worker fails behind the message in hand, as on a thread. */
static void test_a_kept_message_that_fails_ends_the_window(void)
{
    struct weir_kit *kit = start(settles_a_kept_one);

    for (uint32_t i = 0; i < COUNT; i++) {
        CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", "text", 4), WEIR_KEEP);
        if (i == 0)
            CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_KEEP);
    }
    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_FAIL), 1);
    expect(kit, 1, COUNT - 2, 0);
    finish(kit);
}

static void waits_for_a_recall(struct process *process)
{
    uint64_t first = begin(process);

    while (process->came < COUNT)
        (void)listen_for(process, DIALOGUE_HANDLE);
    while (segment_recalled(&process->channel.end) < process->numbers[COUNT - 1])
        (void)poll(NULL, 0, 1);
    say(process, DIALOGUE_RETURN, first, WEIR_DONE);
    leave_untouched(process);
}

/* promise B146 */
static void test_a_slow_message_makes_the_others_go_back(void)
{
    const struct weir_message *before[COUNT];
    struct weir_kit *kit = start_with_all(waits_for_a_recall);

    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_KEEP);
    expect(kit, 1, COUNT - 1, 0);
    CU_ASSERT_EQUAL(proxy->window.size, 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit), "");
    memcpy(before, given, sizeof before);
    given_count = 0;
    CU_ASSERT_EQUAL(weir_kit_handle_unstashed(kit), COUNT - 1);
    CU_ASSERT_EQUAL(memcmp(given, before + 1, (COUNT - 1) * sizeof before[0]), 0);
    finish(kit);
}

static void waits_with_the_fifth(struct process *process)
{
    while (process->next < 4)
        end_next(process, WEIR_DONE);
    waits_for_a_recall(process);
}

/* promise B146: half of what it was quick enough for. */
static void test_a_recalled_window_gets_smaller(void)
{
    struct weir_kit *kit = start_with_all(waits_with_the_fifth);

    proxy->window.size = COUNT;
    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_KEEP);
    expect(kit, 5, 1, 0);
    CU_ASSERT_EQUAL(proxy->window.size, 2);
    finish(kit);
}

static void emits_with_the_second(struct process *process)
{
    struct parcel out = { 0 };

    end_next(process, WEIR_DONE);
    (void)begin(process);
    parcel_number(&out, 0);       /* the output */
    parcel_text(&out, "text/1");  /* the tag */
    parcel_number(&out, 0);       /* the key */
    parcel_text(&out, "");        /* the label */
    parcel_number(&out, false);   /* detached */
    parcel_number(&out, false);   /* joined */
    parcel_number(&out, 0);       /* with */
    parcel_bytes(&out, "out", 3); /* the payload */
    if (call(process, DIALOGUE_EMIT, &out) != WEIR_OK)
        _exit(1);
    say(process, DIALOGUE_RETURN, process->numbers[1], WEIR_DONE);
    while (process->next < COUNT)
        end_next(process, WEIR_DONE);
    parcel_finish(&out);
}

/* promise B145 */
static void test_an_output_joins_the_message_in_hand(void)
{
    struct weir_kit *kit = start_with_all(emits_with_the_second);

    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_KEEP);
    CU_ASSERT_EQUAL_FATAL(weir_kit_sent_count(kit), 1);
    CU_ASSERT_PTR_EQUAL(weir_kit_sent(kit, 0)->joins, given[1]);
    expect(kit, COUNT, 0, 0);
    finish(kit);
}

static void ends_all(struct process *process)
{
    while (process->next < COUNT)
        end_next(process, WEIR_DONE);
}

static void deliver(struct weir_kit *kit, struct weir_message like)
{
    like.tag = weir_kit_tag(kit, "text/1");
    like.kind = WEIR_MESSAGE;
    CU_ASSERT_EQUAL(weir_kit_deliver(kit, &like), WEIR_KEEP);
}

/* promise B146: the process may have been ruined by the message before. It goes neither behind
 * another one, nor another one behind it. */
static void test_a_message_that_comes_again_is_given_alone(void)
{
    static char large[DIALOGUE_AHEAD_MAX + 1];
    const struct weir_message usual = { .data = "text", .size = 4, .attempt = 1 };
    const struct weir_message alone[] = {
        { .data = "text", .size = 4, .attempt = 2 },
        { .data = "text", .size = 4, .attempt = 1, .lane = WEIR_HIGH },
        { .data = large, .size = sizeof large, .attempt = 1 },
    };

    for (uint32_t i = 0; i < 2 * sizeof alone / sizeof alone[0]; i++) {
        struct weir_kit *kit = start(ends_all);

        deliver(kit, i % 2 ? usual : alone[i / 2]);
        CU_ASSERT_EQUAL(proxy->window.given, 1);
        deliver(kit, i % 2 ? alone[i / 2] : usual);
        deliver(kit, usual);
        CU_ASSERT_EQUAL(proxy->window.given, 1);
        CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_KEEP);
        expect(kit, 3, 0, 0);
        finish(kit);
    }
}

/* promise B146 */
static void test_a_smaller_bound_is_in_force_at_once(void)
{
    struct weir_kit *kit = start_with_all(ends_all);

    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_KEEP);
    CU_ASSERT_EQUAL(proxy->window.size, 2);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 2);
    isolated.options.window = 1;
    weir_kit_reconfigure(kit, NULL);
    CU_ASSERT_EQUAL(proxy->window.size, 1);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 1);
    finish(kit);
}

/* --- the end of the process ------------------------------------------------------------------- */

static void dies_in_the_third(struct process *process)
{
    end_next(process, WEIR_DONE);
    end_next(process, WEIR_DONE);
    (void)begin(process);
    (void)raise(SIGKILL);
}

/* promise B145 */
static void test_only_the_message_that_was_begun_is_blamed(void)
{
    struct weir_kit *kit = start_with_all(dies_in_the_third);

    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_FAIL);
    expect(kit, 2, COUNT - 3, 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "killed by SIGKILL");
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "callback=handle"));
    finish(kit);
}

static void dies_behind_the_second(struct process *process)
{
    end_next(process, WEIR_DONE);
    end_next(process, WEIR_DONE);
    (void)raise(SIGKILL);
}

/* promise B145 */
static void test_nobody_is_blamed_between_two_messages(void)
{
    struct weir_kit *kit = start_with_all(dies_behind_the_second);

    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_FAIL);
    expect(kit, 2, COUNT - 2, 0);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "callback=none"));
    finish(kit);
}

/* --- time-outs -------------------------------------------------------------------------------- */

#define LARGE (4u << 20) /* several times what the ring holds */

static void wait_until_due(void)
{
    struct clock clock = clock_monotonic();

    while (clock_now_ns(&clock) < proxy->channel.due_ns)
        (void)poll(NULL, 0, 1);
}

/* promise B145: a message that waits for room has its own time, and not that of `open`. */
static void test_a_large_message_has_its_own_time(void)
{
    struct weir_kit *kit = start(ends_all);
    char *large = calloc(1, LARGE);

    CU_ASSERT_PTR_NOT_NULL_FATAL(large);
    isolated.options.open_timeout_ms = 1;
    callbacks_set_due(proxy, DIALOGUE_OPEN);
    wait_until_due();
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", large, LARGE), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_KEEP);
    expect(kit, 1, 0, 0);
    free(large);
    finish(kit);
}

/* The host reads the call when the time of the first message is over. */
static void calls_and_goes_on(struct process *process)
{
    struct parcel out = { 0 };
    uint64_t first = begin(process);

    parcel_number(&out, first);
    (void)channel_send(&process->channel, DIALOGUE_TIME_LEFT, 0, &out);
    say(process, DIALOGUE_RETURN, first, WEIR_DONE);
    (void)begin(process);
    parcel_finish(&out);
}

/* promise B145 */
static void test_a_time_out_blames_no_message_behind_its_own(void)
{
    struct weir_kit *kit = start(calls_and_goes_on);

    isolated.options.timeout_ms = 1;
    for (uint32_t i = 0; i < COUNT; i++)
        CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", "text", 4), WEIR_KEEP);
    wait_until_due();
    while (segment_begun(&proxy->channel.end) < proxy->window.rows[1].number)
        (void)poll(NULL, 0, 1);
    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_FAIL);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "timeout");
    expect(kit, 1, COUNT - 1, 0);
    finish(kit);
}

/* --- nonsense --------------------------------------------------------------------------------- */

static void speaks_of_another(struct process *process)
{
    say(process, DIALOGUE_RETURN, begin(process) + 1000, WEIR_DONE);
}

static void speaks_twice(struct process *process)
{
    uint64_t number = begin(process);

    say(process, DIALOGUE_RETURN, number, WEIR_DONE);
    say(process, DIALOGUE_RETURN, number, WEIR_DONE);
}

static void speaks_out_of_order(struct process *process)
{
    (void)begin(process);
    say(process, DIALOGUE_RETURN, begin(process), WEIR_DONE);
}

static void gives_back_what_nobody_recalled(struct process *process)
{
    say(process, DIALOGUE_UNTOUCHED, take(process), 0);
}

static void says_nothing(struct process *process)
{
    (void)channel_send(&process->channel, DIALOGUE_RETURN, begin(process), NULL);
}

/* promise B146 */
static void test_nonsense_ends_the_process(void)
{
    static void (*const plays[])(
        struct process *) = { speaks_of_another, speaks_twice, speaks_out_of_order,
                              gives_back_what_nobody_recalled, says_nothing };

    for (uint32_t i = 0; i < sizeof plays / sizeof plays[0]; i++) {
        struct weir_kit *kit = start_with_all(plays[i]);
        size_t done = plays[i] == speaks_twice;

        CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_FAIL);
        CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "wrote nonsense");
        expect(kit, done, COUNT - 1 - done, 1);
        finish(kit);
    }
}

static void settles_what_it_has_not_kept(struct process *process)
{
    struct parcel out = { 0 };

    (void)begin(process);
    while (process->came < COUNT)
        (void)listen_for(process, DIALOGUE_HANDLE);
    for (uint32_t i = 0; i < COUNT; i++) { /* that in hand, and those ahead */
        parcel_clear(&out);
        parcel_number(&out, WEIR_DONE);
        parcel_number(&out, process->numbers[i]);
        if (call(process, DIALOGUE_SETTLE, &out) != WEIR_EINVALID)
            _exit(1);
    }
    parcel_finish(&out);
    say(process, DIALOGUE_RETURN, process->numbers[0], WEIR_DONE);
    while (process->next < COUNT)
        end_next(process, WEIR_DONE);
}

/* promise B146 */
static void test_a_message_ahead_is_none_of_the_process(void)
{
    struct weir_kit *kit = start_with_all(settles_what_it_has_not_kept);

    CU_ASSERT_EQUAL(weir_kit_flush(kit), WEIR_KEEP);
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit), "");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE) + weir_kit_put_back_count(kit), COUNT);
    finish(kit);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "verdicts", test_each_message_has_its_own_verdict },
        { "the end of a window", test_what_is_behind_the_end_of_a_window_goes_back },
        { "recall", test_a_slow_message_makes_the_others_go_back },
        { "recalled size", test_a_recalled_window_gets_smaller },
        { "joins", test_an_output_joins_the_message_in_hand },
        { "alone", test_a_message_that_comes_again_is_given_alone },
        { "crash", test_only_the_message_that_was_begun_is_blamed },
        { "crash between", test_nobody_is_blamed_between_two_messages },
        { "a kept one fails", test_a_kept_message_that_fails_ends_the_window },
        { "bound", test_a_smaller_bound_is_in_force_at_once },
        { "large", test_a_large_message_has_its_own_time },
        { "time-out", test_a_time_out_blames_no_message_behind_its_own },
        { "nonsense", test_nonsense_ends_the_process },
        { "ahead", test_a_message_ahead_is_none_of_the_process },
        CU_TEST_INFO_NULL,
    };

    return suite_run("isolation: the window", tests);
}
