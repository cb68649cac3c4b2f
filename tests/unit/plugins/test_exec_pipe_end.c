/* SPDX-License-Identifier: MIT */
/*
 * Goal:   a child of exec.pipe that ends by its own choice, whose result is not wanted any more, or
 *         whose worker closes is no failure: it is replaced, or gone, and no message is lost.
 * Method: children of the shell, run by the worker in the test kit.
 */
#include <stdlib.h>
#include <string.h>

#include <weir/testkit.h>

#include "../../../plugins/exec/exec.h"
#include "../host/suite.h"
#include "exec_child.h"
#include "scratch.h"

extern const struct weir_plugin weir_plugin_v1;

static bool have_the_same_bytes(const struct weir_message *a, const struct weir_message *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static void test_child_that_stops_is_replaced_within_the_worker(void)
{
    static const char *const bodies[] = {
        CHILD("say out $$; say stop; exec sleep 1000"),
        CHILD("say out $$; say done; exit 0"),
        CHILD("say out $$; say stop; exit 9"),
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct weir_kit *kit = worker(bodies[i]);

        give(kit, "x");
        CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
        if (i == 0)
            weir_kit_advance(kit, 5000); /* it does not end by itself */
        if (i == 1) {
            const char *process = weir_kit_emitted(kit, 0, 0)->data;
            char was[16] = "";

            memcpy(was, process, weir_kit_emitted(kit, 0, 0)->size);
            while (strstr(weir_kit_inspect(kit, NULL), was)) /* until it has ended */
                (void)weir_kit_poll(kit);
        }
        run_until(kit, is_ready);
        give(kit, "x");
        CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 2);
        CU_ASSERT_FALSE(
            have_the_same_bytes(weir_kit_emitted(kit, 0, 0), weir_kit_emitted(kit, 0, 1)));
        CU_ASSERT_EQUAL(weir_kit_own_end(kit), -1);
        CU_ASSERT_EQUAL(weir_kit_log_count(kit), i == 0); /* it is killed */
        finish(kit);
    }
}

/* The host may hand it a message before the end is seen. */
static void test_unanswered_message_of_a_child_that_ended_with_0_comes_again(void)
{
    struct weir_kit *kit = worker(CHILD("[ \"$data\" = last ] && exit 0; say done"));

    give(kit, "x");
    give(kit, "last");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_RETRY), 1);
    CU_ASSERT_EQUAL(weir_kit_retry_ms(kit), 0);
    run_until(kit, is_ready);
    CU_ASSERT_EQUAL(weir_kit_own_end(kit), -1);
    CU_ASSERT_EQUAL(weir_kit_log_count(kit), 0);
    begin(kit, "last"); /* this child has settled nothing */
    run_until(kit, has_ended);
    finish(kit);
    kit = worker(CHILD("say out a; [ \"$data\" = last ] && exit 0; say done"));
    give(kit, "x");
    begin(kit, "last");
    run_until(kit, has_ended);
    finish(kit);
}

static void test_result_that_is_not_wanted_stops_the_child(void)
{
    struct weir_kit *kit = worker(CHILD("sleep 1000"));

    begin(kit, "x");
    weir_kit_wanted(kit, false);
    weir_kit_advance(kit, 1000);
    run_until(kit, nothing_is_kept);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_REJECT), 1);
    run_until(kit, is_ready);
    CU_ASSERT_EQUAL(weir_kit_own_end(kit), -1);
    finish(kit);
}

static void test_close_lets_the_child_finish(void)
{
    struct scratch scratch;
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "pipe");
    char *text;

    scratch_init(&scratch);
    CU_ASSERT_EQUAL_FATAL(
        weir_kit_open_format(kit,
                             "shell: true\ncommand: ['echo \"ready 0\" >&4; cat <&3; "
                             "head -c 200000 /dev/zero; echo end >\"$1\"', '%s']",
                             scratch_path(&scratch, "end")),
        0);
    run_until(kit, is_ready);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    text = scratch_read(&scratch, "end");
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(text, "end\n");
    free(text);
    finish(kit);
    scratch_finish(&scratch);
}

static void leaves(struct weir_kit *kit, bool is_killed)
{
    CU_ASSERT_EQUAL(weir_kit_leave(kit), WEIR_WAIT);
    while (weir_kit_leave(kit) == WEIR_WAIT)
        (void)weir_kit_poll(kit);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "process=0"));
    CU_ASSERT_EQUAL(weir_kit_own_end(kit), -1);
    CU_ASSERT_EQUAL(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "child is killed"), is_killed);
    CU_ASSERT_EQUAL(weir_kit_log_count(kit), is_killed);
    finish(kit);
}

static void test_worker_that_leaves_lets_the_child_finish(void)
{
    leaves(worker(CHILD("say done")), false);
    leaves(worker(CHILD("say done") "    exit 7\n"), false);
    leaves(worker(CHILD("say done") "    head -c 200000 /dev/zero >&4\n"), false);
}

static void test_worker_that_leaves_kills_a_child_that_stays(void)
{
    struct weir_kit *kit = worker("grace: 3s\n" CHILD("say done") "    sleep 1000\n");

    CU_ASSERT_EQUAL(weir_kit_leave(kit), WEIR_WAIT);
    weir_kit_advance(kit, 2999);
    CU_ASSERT_EQUAL(weir_kit_leave(kit), WEIR_WAIT);
    weir_kit_advance(kit, 1);
    leaves(kit, true);
}

static void test_close_kills_a_child_that_stays(void)
{
    struct weir_kit *kit = worker("grace: 1ms\n" CHILD("say done") "    sleep 1000\n");

    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    finish(kit);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "stop", test_child_that_stops_is_replaced_within_the_worker },
        { "end with 0", test_unanswered_message_of_a_child_that_ended_with_0_comes_again },
        { "not wanted", test_result_that_is_not_wanted_stops_the_child },
        { "leave", test_worker_that_leaves_lets_the_child_finish },
        { "leave by a child that stays", test_worker_that_leaves_kills_a_child_that_stays },
        { "close", test_close_lets_the_child_finish },
        { "close of a child that stays", test_close_kills_a_child_that_stays },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin exec.pipe end", tests);
}
