/* SPDX-License-Identifier: MIT */
/*
 * Goal:   a child of exec.pipe of revision 2 has as many messages ahead as docs/decisions/421 says,
 *         gets `cancel` for what is not wanted any more, and costs one message when it ends.
 * Method: the test kit, whose demand is the window, and whose clock stands still; children of the
 *         shell.
 */
#include <string.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "exec_child.h"

#define QUICK 16u
#define MOST 256u

extern const struct weir_plugin weir_plugin_v1;

/* A child that runs BODY for each frame: $kind $size $id $attempt $key $tag, and $data, a line. */
#define CHILD_2(ready, body)                                                                       \
    "shell: true\n"                                                                                \
    "command:\n"                                                                                   \
    "  - |\n"                                                                                      \
    "    echo '" ready "' >&4\n"                                                                   \
    "    while read -r kind size id attempt key tag <&3; do\n"                                     \
    "      data=; [ \"$size\" = 0 ] || read -r data <&3\n"                                         \
    "      " body "\n"                                                                             \
    "    done\n"

#define ANSWERS "echo 'done 0' >&4"

static uint32_t wanted_demand;

static bool has_demand(struct weir_kit *kit)
{
    return weir_kit_demand(kit) == wanted_demand;
}

static struct weir_kit *child(const char *args, uint32_t demand)
{
    struct weir_kit *kit = opened(args);

    wanted_demand = demand;
    run_until(kit, has_demand);
    return kit;
}

/* COUNT is the child's batch: its frames are written without a wait. */
static void give_batch(struct weir_kit *kit, int count)
{
    while (count-- > 0)
        begin(kit, "x\n");
    run_until(kit, nothing_is_kept);
}

static void give_slow(struct weir_kit *kit)
{
    begin(kit, "x\n");
    weir_kit_advance(kit, 2);
    run_until(kit, nothing_is_kept);
}

/* Each verdict doubles the window. */
static void grow(struct weir_kit *kit)
{
    for (uint32_t size = 1; size <= QUICK; size *= 2) {
        CU_ASSERT_EQUAL(weir_kit_demand(kit), size);
        give(kit, "x\n");
    }
    CU_ASSERT_EQUAL(weir_kit_demand(kit), QUICK);
}

/* promise B66 */
static void test_window_grows_while_verdicts_are_quick(void)
{
    struct weir_kit *kit = child(CHILD_2("ready 0 2", ANSWERS), 1);

    grow(kit);
    give_slow(kit);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 1);
    grow(kit);
    finish(kit);
}

/* All but the last of COUNT messages say `more`; the verdicts come with the last one. */
static void give_together(struct weir_kit *kit, uint32_t count, uint64_t after_ms)
{
    while (--count > 0)
        gather(kit, "more\n");
    begin(kit, "x\n");
    weir_kit_advance(kit, after_ms);
    run_until(kit, nothing_is_kept);
}

/* promise B66 */
static void test_window_holds_what_a_quick_child_does_in_a_millisecond(void)
{
    struct weir_kit *kit = child(CHILD_2("ready 0 2", "n=$((n + 1)); [ $data = more ] ||"
                                                      " { echo \"batch 0 $n\" >&4; n=0; }"),
                                 1);

    grow(kit);
    for (uint32_t size = QUICK; size < MOST; size *= 2) {
        give_together(kit, size, 1);
        CU_ASSERT_EQUAL(weir_kit_demand(kit), 2 * size);
    }
    give_together(kit, MOST, 0);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), MOST);
    give_together(kit, MOST, 3);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), MOST / 2);
    give_together(kit, QUICK, 1); /* it may have more than it gets */
    CU_ASSERT_EQUAL(weir_kit_demand(kit), MOST / 2);
    give_slow(kit);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 1);
    finish(kit);
}

static void expect_one(struct weir_kit *kit)
{
    for (uint32_t i = 0; i < QUICK; i++) {
        CU_ASSERT_EQUAL(weir_kit_demand(kit), 1);
        give(kit, "x\n");
    }
    finish(kit);
}

/* promise B66 */
static void test_window_is_one(void)
{
    struct weir_kit *kit = child("shell: true\n"
                                 "command: ['echo ready 0 >&4; while read -r kind size rest <&3;"
                                 " do read -r data <&3; echo done 0 >&4; done']",
                                 1);

    expect_one(kit); /* revision 1 */
    kit = child(CHILD_2("ready 0 2", ANSWERS), 1);
    weir_kit_place(kit, 0, 5);
    weir_kit_pool(kit)->idle = 2; /* a sibling */
    expect_one(kit);
    kit = child(CHILD_2("ready 0 2", ANSWERS), 1);
    weir_kit_place(kit, 0, 5);
    weir_kit_pool(kit)->limit = WEIR_UNBUFFERED;
    expect_one(kit);
    kit = weir_kit_create(&weir_plugin_v1, "pipe");
    weir_kit_place(kit, 0, 5);
    weir_kit_pool(kit)->limit = WEIR_UNBUFFERED;
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, CHILD_2("ready 0 2 8", ANSWERS)), 0);
    wanted_demand = 1;
    run_until(kit, has_demand);
    expect_one(kit);
    kit = child(CHILD_2("ready 0 2", ANSWERS), 1);
    CU_ASSERT_EQUAL(weir_kit_taken(kit), 0);
    expect_one(kit);
}

/* promise B66 */
static void test_window_shrinks_when_a_sibling_is_idle_before_a_verdict(void)
{
    struct weir_kit *kit = child(CHILD_2("ready 0 2", ANSWERS), 1);

    grow(kit);
    begin(kit, "x\n");
    weir_kit_place(kit, 0, 5);
    weir_kit_pool(kit)->idle = 2; /* a sibling */
    weir_kit_advance(kit, 1000);
    begin(kit, "x\n");
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 1);
    run_until(kit, nothing_is_kept);
    finish(kit);
}

/* promise B66 */
static void test_batch_is_the_window_but_for_a_lease(void)
{
    struct weir_kit *kit = child(CHILD_2("ready 0 2 5", ANSWERS), 5);

    CU_ASSERT_EQUAL(weir_kit_taken(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 1);
    give_slow(kit);
    CU_ASSERT_EQUAL(weir_kit_returned(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 5);
    weir_kit_place(kit, 0, 5);
    weir_kit_pool(kit)->idle = 3;
    give_slow(kit);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 5);
    finish(kit);
}

/* promise B66 */
static void test_next_batch_of_a_quick_child_waits_in_its_pipe(void)
{
    struct weir_kit *kit = child(CHILD_2("ready 0 2 3", ANSWERS), 3);

    give_batch(kit, 3);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 6);
    weir_kit_place(kit, 0, 5);
    weir_kit_pool(kit)->idle = 2; /* a sibling */
    weir_kit_advance(kit, 1000);
    give_batch(kit, 3);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 3);
    finish(kit);
    kit = child(CHILD_2("ready 0 2 3", ANSWERS), 3);
    give_batch(kit, 3);
    begin(kit, "x\n");
    weir_kit_advance(kit, 2);
    run_until(kit, nothing_is_kept);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 3);
    finish(kit);
}

static void test_kept_messages_are_not_of_the_window(void)
{
    struct weir_kit *kit = child(CHILD_2("ready 0 2",
                                         "echo keep 0 \"$id\" >&4; [ \"$id\" != 3 ] ||"
                                         " for i in 3 1 2; do echo \"settle 0 $i done\"; done >&4"),
                                 1);

    for (uint32_t kept = 1; kept <= 2; kept++) {
        begin(kit, "x\n");
        wanted_demand = kept + (1u << kept);
        run_until(kit, has_demand);
        CU_ASSERT_EQUAL(weir_kit_kept_count(kit), kept);
    }
    give(kit, "x\n");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 3);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 8);
    finish(kit);
}

/* Of four messages the first one is settled; the second one ends the child. promise B65 */
static void test_what_was_not_begun_goes_back(void)
{
    static const struct {
        const char *end;
        size_t done, put_back;
        bool has_failed;
    } rows[] = {
        { "kill -9 $$", 1, 2, true },
        { "exit 3", 1, 2, true },
        { "echo fail 0 >&4", 1, 2, true },
        { "echo x >&4", 1, 2, true },
        { "echo fail 0 0 >&4", 1, 3, true },
        { "echo done 0 >&4; echo stop 0 >&4", 2, 2, false },
        { "echo stop 0 >&4", 1, 3, false },
        { "echo done 0 >&4; echo inspect 0 >&4; exit 0", 2, 1, false }, /* the third: a retry */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char args[1024];
        struct weir_kit *kit;

        (void)snprintf(args, sizeof args,
                       CHILD_2("ready 0 2 4", "[ \"$data\" != end ] || { %s; }; echo 'done 0' >&4"),
                       rows[i].end);
        kit = child(args, 4);
        begin(kit, "first\n");
        begin(kit, "end\n");
        begin(kit, "third\n");
        begin(kit, "fourth\n");
        while (weir_kit_put_back_count(kit) < rows[i].put_back)
            (void)weir_kit_poll(kit);
        run_until(kit, rows[i].has_failed ? has_ended : nothing_is_kept);
        CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), rows[i].done);
        CU_ASSERT_EQUAL(weir_kit_put_back_count(kit), rows[i].put_back);
        CU_ASSERT_EQUAL(weir_kit_own_end(kit), rows[i].has_failed ? WEIR_END_CRASH : -1);
        finish(kit);
    }
}

static bool has_three(struct weir_kit *kit)
{
    return weir_kit_settled_count(kit, WEIR_DONE) == 3;
}

/* promise B69 */
static void test_child_hears_what_is_not_wanted(void)
{
    struct weir_kit *kit = child(CHILD_2("ready 0 2 3", "[ $kind != cancel ] || echo 'done 0' >&4"),
                                 3);

    for (uint32_t i = 0; i < 3; i++)
        begin(kit, "x\n");
    weir_kit_wanted(kit, false);
    weir_kit_advance(kit, 1000);
    run_until(kit, has_three);
    CU_ASSERT_EQUAL(weir_kit_own_end(kit), -1);
    finish(kit);
}

/* Without a batch it is stopped a second later. promise B69 */
static void test_child_that_goes_on_is_stopped(void)
{
    struct weir_kit *kit = child(CHILD_2("ready 0 2", "true"), 1);

    begin(kit, "x\n");
    weir_kit_wanted(kit, false);
    weir_kit_advance(kit, 1000);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    weir_kit_advance(kit, 1000);
    run_until(kit, nothing_is_kept);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_REJECT), 1);
    CU_ASSERT_EQUAL(weir_kit_own_end(kit), -1);
    finish(kit);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "grows", test_window_grows_while_verdicts_are_quick },
        { "millisecond", test_window_holds_what_a_quick_child_does_in_a_millisecond },
        { "one", test_window_is_one },
        { "idle before a verdict", test_window_shrinks_when_a_sibling_is_idle_before_a_verdict },
        { "batch", test_batch_is_the_window_but_for_a_lease },
        { "next batch", test_next_batch_of_a_quick_child_waits_in_its_pipe },
        { "kept", test_kept_messages_are_not_of_the_window },
        { "put back", test_what_was_not_begun_goes_back },
        { "cancel", test_child_hears_what_is_not_wanted },
        { "cancel is not enough", test_child_that_goes_on_is_stopped },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin exec.pipe window", tests);
}
