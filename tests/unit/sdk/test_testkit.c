/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit shows the calls of a plugin, moves time, and finds each mistake that no plugin
 * may make.
 * Method: a plugin that runs the functions below; each problem is made and looked for by its
 * message.
 */
#include <string.h>

#include <weir/testkit.h>

#include "kit_subject.h"
#include "unit/host/suite.h"

/* The notes of the continuations and ticks of one test. */
struct seen {
    int status;
    uint64_t reference;
    uint32_t count;
    char text[16];
};

static const struct subject_settings settings = { 0, false };

static struct weir_kit *start(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "run");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, &settings), 0);
    return kit;
}

static int run(struct weir_kit *kit, subject_body *body)
{
    return weir_kit_handle(kit, "run/1", &body, sizeof body);
}

/* Runs the body, and wants these words among the problems, `count` in all. */
static void expect_problem(subject_body *body, const char *words, size_t count)
{
    struct weir_kit *kit = start();

    (void)run(kit, body);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    if (words[0])
        CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_problems(kit), words));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), count);
}

static struct weir_message *text_message(struct weir_self *self, const char *text)
{
    struct weir_message *message = weir_message_new(self, weir_tag(self, "text/1"),
                                                    strlen(text) + 1);

    if (message)
        memcpy(message->data, text, strlen(text) + 1);
    return message;
}

/* --- looking ---------------------------------------------------------------------------------- */

static int do_all(struct weir_self *self, const struct weir_message *message)
{
    weir_pid pid = 0;

    (void)weir_emit(self, 0, text_message(self, "one"));
    (void)weir_lookup(self, "images", &pid);
    (void)weir_send_lane(self, pid, WEIR_HIGH, text_message(self, "two"));
    weir_print(self, "ab", 2);
    weir_print(self, "c", 1);
    weir_log(self, WEIR_LOG_WARNING, "odd", weir_str("path", "x"), weir_int("errno", -2),
             weir_uint("tag", message->tag == weir_tag(self, "run/1")));
    weir_progress(self, "files", 3, 7);
    weir_progress_text(self, "server", "a:1");
    weir_progress_text(self, "server", "b:2");
    weir_progress_text(self, "server", "");
    weir_exit_status(self, 2);
    weir_exit_status(self, 1);
    weir_retry_after(self, 250);
    weir_reason(self, "attempt %u", (unsigned)message->attempt);
    return WEIR_RETRY;
}

static void test_what_a_plugin_did_is_shown(void)
{
    struct weir_kit *kit = start();

    weir_kit_name(kit, "images", 77);
    CU_ASSERT_EQUAL(run(kit, do_all), WEIR_RETRY);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 2);
    CU_ASSERT_STRING_EQUAL(weir_kit_emitted(kit, 0, 0)->data, "one");
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 1));
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 1)->way, WEIR_KIT_SEND);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 1)->to, 77);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 1)->lane, WEIR_HIGH);
    CU_ASSERT_PTR_NULL(weir_kit_sent(kit, 2));
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit), "abc");
    CU_ASSERT_STRING_EQUAL(weir_kit_logged(kit), "warning odd path=x errno=-2 tag=1\n");
    CU_ASSERT_EQUAL(weir_kit_log_count(kit), 1);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "path=x"));
    CU_ASSERT_FALSE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "path=y"));
    CU_ASSERT_FALSE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "path=x"));
    CU_ASSERT_EQUAL(weir_kit_done(kit, "files"), 3);
    CU_ASSERT_EQUAL(weir_kit_total(kit, "files"), 7);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "bytes"), 0);
    CU_ASSERT_STRING_EQUAL(weir_kit_text(kit, "server"), "b:2");
    CU_ASSERT_PTR_NULL(weir_kit_text(kit, "files"));
    CU_ASSERT_PTR_NULL(weir_kit_text(kit, "bytes"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 2);
    CU_ASSERT_EQUAL(weir_kit_retry_ms(kit), 250);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "attempt 1");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_RETRY), 1);
    weir_kit_close(kit, WEIR_END_REPLACED);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_logged(kit), "info closed reason=4\n"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_open_and_check_answer_as_the_plugin_does(void)
{
    const struct subject_settings failing = { WEIR_EINVALID, false };
    const struct subject_settings refused = { 4, false };
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "run");

    CU_ASSERT_PTR_NULL(weir_kit_create(&weir_plugin_v1, "walk"));
    CU_ASSERT_STRING_EQUAL(weir_kit_check(kit, &settings), "");
    CU_ASSERT_STRING_EQUAL(weir_kit_check(kit, &refused), "status: must not be 4\n");
    CU_ASSERT_EQUAL(weir_kit_open(kit, &failing), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_logged(kit), ""); /* not opened, so never closed */
    CU_ASSERT_EQUAL(weir_kit_open(kit, &settings), 0);
    CU_ASSERT_EQUAL(weir_kit_open(kit, &settings), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(*(int *)weir_kit_state(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* --- requests --------------------------------------------------------------------------------- */

static void note_reply(struct weir_self *self, void *state, void *context,
                       const struct weir_reply *reply)
{
    struct seen *seen = context;

    (void)self;
    (void)state;
    seen->status = reply->status;
    seen->count++;
    if (reply->message)
        (void)snprintf(seen->text, sizeof seen->text, "%s", (const char *)reply->message->data);
}

static struct seen *seen_of(const struct weir_message *message)
{
    return *(struct seen *const *)((const char *)message->data + sizeof(subject_body *));
}

static int run_seen(struct weir_kit *kit, subject_body *body, struct seen *seen)
{
    struct {
        subject_body *body;
        struct seen *seen;
    } payload = { body, seen };

    return weir_kit_handle(kit, "run/1", &payload, sizeof payload);
}

static int ask(struct weir_self *self, const struct weir_message *message)
{
    struct seen *seen = seen_of(message);

    return weir_request(self, 5, text_message(self, "?"), 100, note_reply, seen, &seen->reference);
}

static int ask_and_give_up(struct weir_self *self, const struct weir_message *message)
{
    struct seen *seen = seen_of(message);

    (void)ask(self, message);
    (void)weir_cancel(self, seen->reference);
    CU_ASSERT_EQUAL(seen->count, 0); /* never before the callback has returned */
    return weir_cancel(self, seen->reference) == WEIR_EUNKNOWN ? WEIR_DONE : WEIR_FAIL;
}

static void test_requests_are_answered_cancelled_and_run_out(void)
{
    struct weir_kit *kit = start();
    struct seen seen = { .status = 1 };

    CU_ASSERT_EQUAL(run_seen(kit, ask, &seen), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 0)->reference, seen.reference);
    CU_ASSERT_EQUAL(weir_kit_open_request_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, seen.reference, 0, "text/1", "yes", 4), 0);
    CU_ASSERT_STRING_EQUAL(seen.text, "yes");
    CU_ASSERT_EQUAL(seen.status, 0);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, seen.reference, 0, NULL, NULL, 0), WEIR_EUNKNOWN);

    CU_ASSERT_EQUAL(run_seen(kit, ask, &seen), WEIR_DONE);
    weir_kit_advance(kit, 99);
    CU_ASSERT_EQUAL(seen.count, 1);
    weir_kit_advance(kit, 1);
    CU_ASSERT_EQUAL(seen.count, 2);
    CU_ASSERT_EQUAL(seen.status, WEIR_ETIMEOUT);

    seen.count = 0;
    CU_ASSERT_EQUAL(run_seen(kit, ask_and_give_up, &seen), WEIR_DONE);
    CU_ASSERT_EQUAL(seen.count, 1);
    CU_ASSERT_EQUAL(seen.status, WEIR_ECANCELLED);
    CU_ASSERT_EQUAL(weir_kit_open_request_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static int answer_twice(struct weir_self *self, const struct weir_message *message)
{
    struct weir_message *second = text_message(self, "b");

    CU_ASSERT_EQUAL(weir_reply(self, message, text_message(self, "a")), 0);
    CU_ASSERT_EQUAL(weir_reply(self, message, second), WEIR_ENOTALLOWED);
    weir_message_free(self, second);
    return WEIR_DONE;
}

static void test_a_request_is_replied_to_once(void)
{
    struct weir_kit *kit = start();
    subject_body *body = answer_twice;

    CU_ASSERT_EQUAL(weir_kit_request(kit, "run/1", &body, sizeof body), WEIR_DONE);
    CU_ASSERT_STRING_EQUAL(weir_kit_replied(kit, 0)->data, "a");
    CU_ASSERT_PTR_NULL(weir_kit_replied(kit, 1));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* --- time ------------------------------------------------------------------------------------- */

static void note_tick(struct weir_self *self, void *state, void *context)
{
    struct seen *seen = context;

    (void)state;
    seen->count++;
    seen->reference = weir_now_ms(self);
}

static int arm(struct weir_self *self, const struct weir_message *message)
{
    struct seen *seen = seen_of(message);
    uint64_t timer;

    (void)weir_every(self, 10, note_tick, seen, NULL);
    (void)weir_after(self, 5, note_tick, seen, &timer);
    (void)weir_send_after(self, 9, text_message(self, "late"), 30, NULL);
    (void)weir_after(self, 7, note_tick, seen, NULL);
    CU_ASSERT_EQUAL(weir_cancel_timer(self, timer), 0);
    CU_ASSERT_EQUAL(weir_cancel_timer(self, timer), WEIR_EUNKNOWN);
    (void)weir_send_after(self, 9, text_message(self, "never"), 30, &timer);
    CU_ASSERT_EQUAL(weir_cancel_timer(self, timer), 0);
    return WEIR_DONE;
}

static void test_time_moves_only_when_the_test_moves_it(void)
{
    struct weir_kit *kit = start();
    struct seen seen = { 0 };

    CU_ASSERT_EQUAL(run_seen(kit, arm, &seen), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_timer_count(kit), 3);
    weir_kit_advance(kit, 9);
    CU_ASSERT_EQUAL(seen.count, 1);
    CU_ASSERT_EQUAL(seen.reference, 7);
    weir_kit_advance(kit, 20);
    CU_ASSERT_EQUAL(seen.count, 3);
    CU_ASSERT_EQUAL(seen.reference, 20);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 0);
    weir_kit_advance(kit, 1);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_sent(kit, 0)->message->data, "late");
    CU_ASSERT_EQUAL(weir_kit_timer_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* --- steering --------------------------------------------------------------------------------- */

static int emit_three(struct weir_self *self, const struct weir_message *message)
{
    int status = 0;

    (void)message;
    for (int i = 0; i < 3 && status == 0; i++) {
        struct weir_message *made = text_message(self, "x");

        status = made ? weir_emit(self, 0, made) : WEIR_ENOMEM;
        if (made && status != 0)
            weir_message_free(self, made);
    }
    return status == WEIR_EFULL ? WEIR_RETRY : status == WEIR_ENOMEM ? WEIR_STOP : WEIR_DONE;
}

static void test_room_and_memory_end_where_set(void)
{
    struct weir_kit *kit = start();

    weir_kit_limit(kit, 2, WEIR_EFULL);
    CU_ASSERT_EQUAL(run(kit, emit_three), WEIR_RETRY);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 2);
    weir_kit_limit(kit, UINT32_MAX, 0);
    weir_kit_fail_allocation(kit, 4); /* tag, message, tag, and then this message */
    CU_ASSERT_EQUAL(run(kit, emit_three), WEIR_STOP);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 3);
    CU_ASSERT_EQUAL(run(kit, emit_three), WEIR_DONE);
    weir_kit_fail_allocations(kit, 2, 3); /* this message, and both calls for the next */
    CU_ASSERT_EQUAL(run(kit, emit_three), WEIR_STOP);
    CU_ASSERT_EQUAL(run(kit, emit_three), WEIR_STOP);
    CU_ASSERT_EQUAL(run(kit, emit_three), WEIR_DONE);
    weir_kit_fail_allocations(kit, 1, UINT32_MAX);
    CU_ASSERT_EQUAL(run(kit, emit_three), WEIR_STOP);
    CU_ASSERT_EQUAL(run(kit, emit_three), WEIR_STOP);
    weir_kit_fail_allocations(kit, 0, 0);
    CU_ASSERT_EQUAL(run(kit, emit_three), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static int grow(struct weir_self *self, const struct weir_message *message)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct weir_resized resized;

    CU_ASSERT_EQUAL(message->kind, WEIR_EVENT);
    CU_ASSERT_EQUAL(message->attempt, 3);
    CU_ASSERT_EQUAL(weir_index(self), 4);
    CU_ASSERT_EQUAL(weir_pool_stats(self, weir_pool(self), &stats), 0);
    CU_ASSERT_EQUAL(stats.target, 6);
    CU_ASSERT_EQUAL(weir_pool_add(self, weir_pool(self), -2, &resized), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_pool_remove(self, weir_pool(self), 2, &resized), 0);
    CU_ASSERT_EQUAL(resized.changed, 2);
    return WEIR_DONE;
}

static void test_pool_and_message_are_as_set(void)
{
    struct weir_kit *kit = start();
    subject_body *body = grow;
    const struct weir_message like = {
        .data = &body, .size = sizeof body, .kind = WEIR_EVENT, .attempt = 3
    };

    weir_kit_place(kit, 4, 99);
    weir_kit_pool(kit)->target = 6;
    CU_ASSERT_EQUAL(weir_kit_deliver(kit, &like), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_pool(kit)->target, 4);
    CU_ASSERT_EQUAL(weir_kit_pool(kit)->epoch, 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* --- problems --------------------------------------------------------------------------------- */

static int keep(struct weir_self *self, const struct weir_message *message)
{
    (void)self;
    (void)message;
    return WEIR_KEEP;
}

static int keep_and_settle(struct weir_self *self, const struct weir_message *message)
{
    struct seen *seen = seen_of(message);
    const struct weir_message *kept = (const struct weir_message *)(uintptr_t)seen->reference;

    seen->reference = (uintptr_t)message;
    return kept && weir_settle(self, kept, WEIR_DONE) == 0 ? WEIR_DONE : WEIR_KEEP;
}

static int settle_again(struct weir_self *self, const struct weir_message *message)
{
    const struct weir_message *kept = (const struct weir_message *)(uintptr_t)seen_of(message)
                                          ->reference;

    (void)weir_settle(self, kept, WEIR_DONE);
    (void)weir_settle(self, kept, WEIR_DONE);
    return WEIR_DONE;
}

static int keep_and_end(struct weir_self *self, const struct weir_message *message)
{
    (void)message;
    (void)weir_exit(self, weir_pid_of(self), WEIR_END_CRASH);
    return WEIR_KEEP;
}

static void test_worker_that_ends_itself_as_failed_may_leave_kept_messages(void)
{
    struct weir_kit *kit = start();

    CU_ASSERT_EQUAL(weir_kit_own_end(kit), -1);
    CU_ASSERT_EQUAL(run(kit, keep_and_end), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_own_end(kit), WEIR_END_CRASH);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_kept_message_is_settled_once(void)
{
    struct weir_kit *kit = start();
    struct seen seen = { 0 };

    CU_ASSERT_EQUAL(run_seen(kit, keep_and_settle, &seen), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    CU_ASSERT_EQUAL(run_seen(kit, keep_and_settle, &seen), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 2);
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit), "");

    seen.reference = 0;
    CU_ASSERT_EQUAL(run_seen(kit, keep_and_settle, &seen), WEIR_KEEP);
    CU_ASSERT_EQUAL(run_seen(kit, settle_again, &seen), WEIR_DONE);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_problems(kit), "(run/1) was settled that was settled"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1);
}

static void test_keeping_too_many_or_for_ever_is_found(void)
{
    struct weir_kit *kit = start();

    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(run(kit, keep), WEIR_KEEP);
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit),
                           "a message (run/1) was kept over in_hand, which is 2\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 4); /* that, and three that were never settled */
}

static int forget(struct weir_self *self, const struct weir_message *message)
{
    (void)message;
    return text_message(self, "lost") ? WEIR_DONE : WEIR_FAIL;
}

static int free_twice(struct weir_self *self, const struct weir_message *message)
{
    struct weir_message *made = text_message(self, "x");

    (void)message;
    weir_message_free(self, made);
    weir_message_free(self, made);
    return WEIR_DONE;
}

static int use_after_send(struct weir_self *self, const struct weir_message *message)
{
    struct weir_message *made = text_message(self, "x");

    (void)message;
    (void)weir_emit(self, 0, made);
    (void)weir_send(self, 5, made);
    weir_message_free(self, made);
    return WEIR_DONE;
}

static int send_borrowed(struct weir_self *self, const struct weir_message *message)
{
    (void)weir_send(self, 5, (struct weir_message *)message);
    return WEIR_DONE;
}

static int emit_undeclared(struct weir_self *self, const struct weir_message *message)
{
    struct weir_message *made = text_message(self, "x");

    (void)message;
    CU_ASSERT_EQUAL(weir_emit(self, 1, made), WEIR_EINVALID);
    weir_message_free(self, made);
    return WEIR_DONE;
}

static int answer_nonsense(struct weir_self *self, const struct weir_message *message)
{
    (void)self;
    (void)message;
    return 42;
}

static int forward_well(struct weir_self *self, const struct weir_message *message)
{
    return weir_forward(self, 5, message);
}

static int forward_and_fail(struct weir_self *self, const struct weir_message *message)
{
    (void)weir_forward(self, 5, message);
    return WEIR_REJECT;
}

static void test_what_no_plugin_may_do_is_found(void)
{
    expect_problem(forget, "", 1);
    expect_problem(free_twice, "(text/1) was freed that was freed before", 1);
    expect_problem(use_after_send, "(text/1) was freed that was sent before", 2);
    expect_problem(send_borrowed, "(run/1) was sent that is only borrowed", 1);
    expect_problem(emit_undeclared, "at output 1, which is not declared", 1);
    expect_problem(answer_nonsense, "handle answered 42", 1);
    expect_problem(forward_well, "", 0);
    expect_problem(forward_and_fail, "was forwarded, and answered with 2", 1);
}

static void test_source_that_overruns_its_credit_is_found(void)
{
    struct weir_kit *kit = start();

    CU_ASSERT_EQUAL(weir_kit_produce(kit, 2), WEIR_MORE);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 1), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 3);
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit), "");
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 3), WEIR_MORE);
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit), "4 messages were produced, and 3 asked for\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1);
}

static int ask_for_a_wrong_exit(struct weir_self *self, const struct weir_message *message)
{
    (void)message;
    weir_exit_status(self, 64);
    weir_exit_status(self, -1);
    return WEIR_DONE;
}

static void test_exit_status_out_of_range_is_found(void)
{
    struct weir_kit *kit = start();

    CU_ASSERT_EQUAL(run(kit, ask_for_a_wrong_exit), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 0);
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit),
                           "the exit status 64 is neither in 0..63 nor 74\n"
                           "the exit status -1 is neither in 0..63 nor 74\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 2);
}

static void test_callbacks_before_open_are_problems_of_the_test(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "run");

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "run/1", NULL, 0), WEIR_FAIL);
    CU_ASSERT_EQUAL(weir_kit_handle_blob(kit, "run/1", NULL, 0), WEIR_FAIL);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_ENOTALLOWED);
    weir_kit_resume(kit, NULL, 0);
    weir_kit_reconfigure(kit, &settings);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    weir_kit_advance(kit, 1000);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, 1, 0, NULL, NULL, 0), WEIR_EUNKNOWN);
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit),
                           "the test asked for handle, and the worker is not open\n"
                           "the test asked for handle, and the worker is not open\n"
                           "the test asked for produce, and the worker is not open\n"
                           "the test asked for resume, and the worker is not open\n"
                           "the test asked for reconfigure, and the worker is not open\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 5);
}

static void test_failed_open_that_forgets_is_found(void)
{
    const struct subject_settings forgetful = { WEIR_ENOMEM, true };
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "run");

    CU_ASSERT_EQUAL(weir_kit_open(kit, &forgetful), WEIR_ENOMEM);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(NULL), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "what_a_plugin_did_is_shown", test_what_a_plugin_did_is_shown },
        { "open_and_check_answer_as_the_plugin_does",
          test_open_and_check_answer_as_the_plugin_does },
        { "requests_are_answered_cancelled_and_run_out",
          test_requests_are_answered_cancelled_and_run_out },
        { "a_request_is_replied_to_once", test_a_request_is_replied_to_once },
        { "time_moves_only_when_the_test_moves_it", test_time_moves_only_when_the_test_moves_it },
        { "room_and_memory_end_where_set", test_room_and_memory_end_where_set },
        { "pool_and_message_are_as_set", test_pool_and_message_are_as_set },
        { "kept_message_is_settled_once", test_kept_message_is_settled_once },
        { "kept_message_of_a_failed_worker",
          test_worker_that_ends_itself_as_failed_may_leave_kept_messages },
        { "keeping_too_many_or_for_ever_is_found", test_keeping_too_many_or_for_ever_is_found },
        { "what_no_plugin_may_do_is_found", test_what_no_plugin_may_do_is_found },
        { "source_that_overruns_its_credit_is_found",
          test_source_that_overruns_its_credit_is_found },
        { "exit_status_out_of_range_is_found", test_exit_status_out_of_range_is_found },
        { "callbacks_before_open_are_problems_of_the_test",
          test_callbacks_before_open_are_problems_of_the_test },
        { "failed_open_that_forgets_is_found", test_failed_open_that_forgets_is_found },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: test kit", tests);
}
