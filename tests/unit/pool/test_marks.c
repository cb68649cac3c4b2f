/* SPDX-License-Identifier: MIT */
/*
 * Goal: a message that was sent to one worker is never handled by another one, whatever becomes of
 * it; and whoever waits for the outcome of a message hears the truth exactly once. Shows promises
 * P41 and S8.
 *
 * Method: a table, the specification: each row is a way to address a message, each column is what
 * happens to it. A program walks all cells: it makes a small world (marks_world.h), sends the
 * message, lets the column happen, and compares what has become of the message with the cell.
 *
 * Words of a cell: who has handled it (`own`: the worker that it was sent to, or that had it first;
 * `sibling`: another worker of the pool; `any`: one of both; `helper`), or the reason of its dead
 * letter, or `nobody`; then what the requester or the origin has heard. A cell in parentheses is
 * impossible, for the reason in it.
 */
#include <stdlib.h>
#include <string.h>

#include "face/leases.h"
#include "face/messages.h"
#include "unit/host/suite.h"
#include "unit/pool/marks_sender.h"

#define AFTER_PAUSE_MS (2u * PAUSE_MS)
#define REMOVE_MS 50u
#define COPIES 4u /* of a message that is sent again: its own worker has to get all of them */

/* --- columns ---------------------------------------------------------------------------------- */

/* The worker that has it handles it once more, or passes it on. */
static void handled(struct world *w)
{
    CU_ASSERT_TRUE(world_send(w));
    CU_ASSERT_TRUE(world_quiet(w));
}

static void stashed(struct world *w)
{
    CU_ASSERT_TRUE(world_send(w));
    while (atomic_load(&w->home) < 0)
        CU_ASSERT_TRUE_FATAL(rig_drained(&w->rig, w->helper));
    CU_ASSERT_TRUE(world_order(w, (struct order){ .act = bring_back }));
    CU_ASSERT_TRUE(world_quiet(w));
}

/* The worker that has put it back fails, and waits before it opens again. */
static void given_back(struct world *w)
{
    CU_ASSERT_TRUE(world_send(w));
    CU_ASSERT_TRUE(world_paused(w));
    rig_advance(&w->rig, AFTER_PAUSE_MS);
    CU_ASSERT_TRUE(world_quiet(w));
}

/* The last worker leaves while the message waits in its mailbox. */
static void leaves(struct world *w)
{
    CU_ASSERT_TRUE(world_send_behind(w, probe_wait));
    CU_ASSERT_EQUAL(rig_resize(&w->rig, w->pool, w->pool->target - 1, NULL), 0);
    CU_ASSERT_TRUE(world_free_others(w));
    gate_open(&w->workers->gate);
    CU_ASSERT_TRUE(world_quiet(w));
}

static void leaves_late(struct world *w)
{
    CU_ASSERT_TRUE(world_send_behind(w, keep));
    CU_ASSERT_EQUAL(rig_resize(&w->rig, w->pool, w->pool->target - 1, NULL), 0);
    CU_ASSERT_TRUE(world_free_others(w));
    rig_advance(&w->rig, 2 * REMOVE_MS);
    gate_open(&w->workers->gate);
    CU_ASSERT_TRUE(world_quiet(w));
}

/* The last worker fails, and waits before it opens again. */
static void pauses(struct world *w)
{
    CU_ASSERT_TRUE(world_send_behind(w, probe_wait_and_fail));
    CU_ASSERT_TRUE(world_free_others(w));
    gate_open(&w->workers->gate);
    CU_ASSERT_TRUE(world_paused(w));
    rig_advance(&w->rig, AFTER_PAUSE_MS);
    CU_ASSERT_TRUE(world_quiet(w));
}

/* The pool grows, and busy workers give a part of their messages to the new ones. */
static void grows(struct world *w)
{
    CU_ASSERT_TRUE(world_send_behind(w, probe_wait));
    for (uint32_t i = 0; i < 2; i++)
        CU_ASSERT_TRUE(world_order(w, (struct order){ .id = FILLER }));
    CU_ASSERT_TRUE(world_free_others(w));
    CU_ASSERT_EQUAL(rig_resize(&w->rig, w->pool, 4, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&w->rig, w->pool));
    gate_open(&w->workers->gate);
    CU_ASSERT_TRUE(world_quiet(w));
}

static void retried(struct world *w)
{
    CU_ASSERT_TRUE(world_send(w));
    CU_ASSERT_TRUE(world_delayed(w));
    rig_advance(&w->rig, AFTER_PAUSE_MS);
    CU_ASSERT_TRUE(world_quiet(w));
}

/* Each of some equal messages is rejected, and sent again. */
static void replayed(struct world *w)
{
    w->count = marks_is_answered(w->setup.mark) || marks_has_origin(w->setup.mark) ? 1 : COPIES;
    for (uint32_t i = 0; i < w->count; i++) {
        CU_ASSERT_TRUE(world_send(w));
        CU_ASSERT_TRUE(world_quiet(w));
    }
    CU_ASSERT_TRUE(!marks_is_answered(w->setup.mark) || world_heard(w));
    atomic_store(&w->accepts, true);
    CU_ASSERT_TRUE(world_replay(w));
    CU_ASSERT_TRUE(world_quiet(w));
}

static void kept(struct world *w)
{
    CU_ASSERT_TRUE(world_send(w));
    CU_ASSERT_TRUE(world_in_hand(w));
    CU_ASSERT_EQUAL(rig_resize(&w->rig, w->pool, 0, NULL), 0);
    rig_advance(&w->rig, 2 * REMOVE_MS);
    CU_ASSERT_TRUE(world_quiet(w));
}

/* Its sender has a timer for it. */
static void delayed(struct world *w)
{
    CU_ASSERT_TRUE(world_send(w));
    CU_ASSERT_TRUE(world_quiet(w));
    rig_advance(&w->rig, AFTER_PAUSE_MS);
    CU_ASSERT_TRUE(w->setup.sending != SENDING_LATER || world_handled(w));
    CU_ASSERT_TRUE(world_quiet(w));
}

/* The sender fails before the time of the timer. */
static void delayed_by_failing(struct world *w)
{
    CU_ASSERT_TRUE(world_send(w));
    CU_ASSERT_TRUE(world_quiet(w));
    CU_ASSERT_EQUAL(rig_send(&w->rig, w->feeder->pid, (struct order){ .act = probe_fail }), 0);
    CU_ASSERT_TRUE(world_quiet(w));
    rig_advance(&w->rig, AFTER_PAUSE_MS);
    CU_ASSERT_TRUE(world_quiet(w));
}

/* A thread has it, and the worker of that thread fails. */
static void freed_late(struct world *w)
{
    CU_ASSERT_TRUE(world_send(w));
    CU_ASSERT_TRUE(world_quiet(w));
    CU_ASSERT_EQUAL(rig_send(&w->rig, w->feeder->pid, (struct order){ .act = probe_fail }), 0);
    CU_ASSERT_TRUE(world_quiet(w));
    world_free(w);
}

/* No worker has room, and the sender frees it. */
static void refused(struct world *w)
{
    CU_ASSERT_TRUE(world_fill(w));
    CU_ASSERT_TRUE(world_send(w));
    gate_open(&w->workers->gate);
    CU_ASSERT_TRUE(world_quiet(w));
}

#define COLUMNS(X)                                                                                 \
    X(FORWARD, "forward", handled, .first = FIRST_FORWARD)                                         \
    X(STASH, "stash", stashed, .first = FIRST_STASH)                                               \
    X(RETRY, "retry", retried, .first = FIRST_RETRY)                                               \
    X(CRASH, "crash", handled, .first = FIRST_FAIL)                                                \
    X(AGAIN, "crash, redeliver: 1", handled, .first = FIRST_FAIL, .redeliver = 1)                  \
    X(PUT_BACK, "put back", handled, .first = FIRST_PUT_BACK)                                      \
    X(LOST, "put back, crash", given_back, .first = FIRST_PUT_BACK, .pauses = true)                \
    X(KEPT, "kept at the end", kept, .first = FIRST_KEEP, .remove = { 0, REMOVE_MS })              \
    X(REPLAY, "replay", replayed, .first = FIRST_REJECT)                                           \
    X(FILE, "replay from the file", handled, .first = FIRST_REJECT, .tells_record = true)          \
    X(REROUTE, "worker leaves: reroute", leaves, .remove = { WEIR_REMOVE_REROUTE, 0 })             \
    X(DISCARD, "worker leaves: discard", leaves, .remove = { WEIR_REMOVE_DISCARD, 0 })             \
    X(LATE, "worker leaves: time-out", leaves_late, .remove = { WEIR_REMOVE_DRAIN, REMOVE_MS })    \
    X(PAUSE, "worker waits in back-off", pauses, .pauses = true)                                   \
    X(GROWTH, "pool grows", grows, .first = FIRST_DONE)                                            \
    X(DELAY, "timer", delayed, .sending = SENDING_LATER)                                           \
    X(DROPPED, "timer of a worker that fails", delayed_by_failing, .sending = SENDING_LATER)       \
    X(CANCELLED, "timer is cancelled", delayed, .sending = SENDING_CANCELLED)                      \
    X(FREED, "freed by a thread", handled, .sending = SENDING_FREED)                               \
    X(FREED_LATE, "freed by a thread later", freed_late, .sending = SENDING_FREED_LATE)            \
    X(REFUSED, "refused, and freed", refused, .sending = SENDING_NOW)

enum happening {
#define COLUMN_NUMBER(name, word, act, ...) AT_##name,
    COLUMNS(COLUMN_NUMBER)
#undef COLUMN_NUMBER
        COLUMN_COUNT
};

struct happening_row {
    const char *word;
    void (*act)(struct world *w);
    struct setup setup;
};

static const struct happening_row columns[COLUMN_COUNT] = {
#define COLUMN_ENTRY(name, word, act, ...) [AT_##name] = { word, act, { __VA_ARGS__ } },
    COLUMNS(COLUMN_ENTRY)
#undef COLUMN_ENTRY
};

static const char *const words[MARK_COUNT] = {
#define MARK_WORD(name, word) [name] = word,
    MARKS(MARK_WORD)
#undef MARK_WORD
};

/* --- the table -------------------------------------------------------------------------------- */

#define NOT_OWNED "(no worker has it before it is sent)"
#define NO_TIMER "(a timer sends messages only)"

/* A take waits in the queue of the pool: nothing of this happens to it. */
#define ROWS TAKE

static const char *const table[ROWS][COLUMN_COUNT] = {
    [POOL] = {
        [AT_FORWARD] = "helper",
        [AT_STASH] = "own",
        [AT_RETRY] = "own",
        [AT_CRASH] = "crashed",
        [AT_AGAIN] = "own",
        [AT_PUT_BACK] = "own",
        [AT_LOST] = "sibling",
        [AT_KEPT] = "kept",
        [AT_REPLAY] = "any",
        [AT_FILE] = "rejected, stored for pool",
        [AT_REROUTE] = "sibling",
        [AT_DISCARD] = "removed",
        [AT_LATE] = "sibling",
        [AT_PAUSE] = "sibling",
        [AT_GROWTH] = "sibling",
        [AT_DELAY] = "any",
        [AT_DROPPED] = "nobody",
        [AT_CANCELLED] = "nobody",
        [AT_FREED] = "nobody",
        [AT_FREED_LATE] = "nobody",
        [AT_REFUSED] = "nobody",
    },
    [DIRECT] = {
        [AT_FORWARD] = "helper",
        [AT_STASH] = "own",
        [AT_RETRY] = "own",
        [AT_CRASH] = "crashed",
        [AT_AGAIN] = "own",
        [AT_PUT_BACK] = "own",
        [AT_LOST] = "own",
        [AT_KEPT] = "kept",
        [AT_REPLAY] = "own",
        [AT_FILE] = "rejected, stored for nobody",
        [AT_REROUTE] = "own",
        [AT_DISCARD] = "removed",
        [AT_LATE] = "removed",
        [AT_PAUSE] = "own",
        [AT_GROWTH] = "own",
        [AT_DELAY] = "own",
        [AT_DROPPED] = "nobody",
        [AT_CANCELLED] = "nobody",
        [AT_FREED] = "nobody",
        [AT_FREED_LATE] = "nobody",
        [AT_REFUSED] = "nobody",
    },
    [COPY] = {
        [AT_FORWARD] = "helper",
        [AT_STASH] = "own",
        [AT_RETRY] = "own",
        [AT_CRASH] = "crashed",
        [AT_AGAIN] = "own",
        [AT_PUT_BACK] = "own",
        [AT_LOST] = "own",
        [AT_KEPT] = "kept",
        [AT_REPLAY] = "own",
        [AT_FILE] = "rejected, stored for nobody",
        [AT_REROUTE] = "own",
        [AT_DISCARD] = "removed",
        [AT_LATE] = "removed",
        [AT_PAUSE] = "own",
        [AT_GROWTH] = "own",
        [AT_DELAY] = "(a copy is made when it is sent)",
        [AT_DROPPED] = "(as above)",
        [AT_CANCELLED] = "(as above)",
        [AT_FREED] = "(as above)",
        [AT_FREED_LATE] = "(as above)",
        [AT_REFUSED] = "(as above)",
    },
    [EVENT] = {
        [AT_FORWARD] = "helper",
        [AT_STASH] = "own",
        [AT_RETRY] = "own",
        [AT_CRASH] = "crashed",
        [AT_AGAIN] = "own",
        [AT_PUT_BACK] = "own",
        [AT_LOST] = "own",
        [AT_KEPT] = "kept",
        [AT_REPLAY] = "own",
        [AT_FILE] = "rejected, stored for nobody",
        [AT_REROUTE] = "own",
        [AT_DISCARD] = "removed",
        [AT_LATE] = "removed",
        [AT_PAUSE] = "own",
        [AT_GROWTH] = "own",
        [AT_DELAY] = "(an event is sent at once)",
        [AT_DROPPED] = "(as above)",
        [AT_CANCELLED] = "(as above)",
        [AT_FREED] = "(as above)",
        [AT_FREED_LATE] = "(as above)",
        [AT_REFUSED] = "(as above)",
    },
    [EVENT_ALL] = {
        [AT_FORWARD] = "helper",
        [AT_STASH] = "own",
        [AT_RETRY] = "own",
        [AT_CRASH] = "crashed",
        [AT_AGAIN] = "own",
        [AT_PUT_BACK] = "own",
        [AT_LOST] = "own",
        [AT_KEPT] = "kept",
        [AT_REPLAY] = "own",
        [AT_FILE] = "rejected, stored for nobody",
        [AT_REROUTE] = "own",
        [AT_DISCARD] = "removed",
        [AT_LATE] = "removed",
        [AT_PAUSE] = "own",
        [AT_GROWTH] = "own",
        [AT_DELAY] = "(an event is sent at once)",
        [AT_DROPPED] = "(as above)",
        [AT_CANCELLED] = "(as above)",
        [AT_FREED] = "(as above)",
        [AT_FREED_LATE] = "(as above)",
        [AT_REFUSED] = "(as above)",
    },
    [REQUEST] = {
        [AT_FORWARD] = "helper, heard done",
        [AT_STASH] = "own, heard done",
        [AT_RETRY] = "own, heard done",
        [AT_CRASH] = "crashed, heard CRASHED",
        [AT_AGAIN] = "own, heard done",
        [AT_PUT_BACK] = "own, heard done",
        [AT_LOST] = "own, heard done",
        [AT_KEPT] = "kept, heard REMOVED",
        [AT_REPLAY] = "own, heard REJECTED",
        [AT_FILE] = "rejected, stored for nobody, heard REJECTED",
        [AT_REROUTE] = "own, heard done",
        [AT_DISCARD] = "removed, heard REMOVED",
        [AT_LATE] = "removed, heard REMOVED",
        [AT_PAUSE] = "own, heard done",
        [AT_GROWTH] = "own, heard done",
        [AT_DELAY] = NO_TIMER,
        [AT_DROPPED] = NO_TIMER,
        [AT_CANCELLED] = NO_TIMER,
        [AT_FREED] = "(a message that is freed was no request)",
        [AT_FREED_LATE] = "(as above)",
        [AT_REFUSED] = "(as above)",
    },
    [LEASED] = {
        [AT_FORWARD] = "helper, heard done",
        [AT_STASH] = "own, heard done",
        [AT_RETRY] = "own, heard done",
        [AT_CRASH] = "crashed, heard CRASHED",
        [AT_AGAIN] = "crashed, heard CRASHED",
        [AT_PUT_BACK] = "own, heard done",
        [AT_LOST] = "rejected, heard NOTALLOWED",
        [AT_KEPT] = "crashed, heard CRASHED",
        [AT_REPLAY] = "rejected, heard REJECTED",
        [AT_FILE] = "rejected, stored for nobody, heard REJECTED",
        [AT_REROUTE] = "own, heard done",
        [AT_DISCARD] = "removed, heard REMOVED",
        [AT_LATE] = "removed, heard REMOVED",
        [AT_PAUSE] = "rejected, heard NOTALLOWED",
        [AT_GROWTH] = "own, heard done",
        [AT_DELAY] = NO_TIMER,
        [AT_DROPPED] = NO_TIMER,
        [AT_CANCELLED] = NO_TIMER,
        [AT_FREED] = "(a message that is freed has no lease)",
        [AT_FREED_LATE] = "(as above)",
        [AT_REFUSED] = "(as above)",
    },
    [ORIGIN] = {
        [AT_FORWARD] = "helper, heard done",
        [AT_STASH] = "own, heard done",
        [AT_RETRY] = "nobody, heard retry",
        [AT_CRASH] = "crashed, heard dead",
        [AT_AGAIN] = "own, heard done",
        [AT_PUT_BACK] = "own, heard done",
        [AT_LOST] = "sibling, heard done",
        [AT_KEPT] = "kept, heard dead",
        [AT_REPLAY] = "any, heard dead",
        [AT_FILE] = "rejected, stored for pool, heard dead",
        [AT_REROUTE] = "sibling, heard done",
        [AT_DISCARD] = "removed, heard dead",
        [AT_LATE] = "sibling, heard done",
        [AT_PAUSE] = "sibling, heard done",
        [AT_GROWTH] = "sibling, heard done",
        [AT_DELAY] = "any, heard done",
        [AT_DROPPED] = "(its timer is the origin's own)",
        [AT_CANCELLED] = "nobody", /* its origin knows */
        [AT_FREED] = "nobody",
        [AT_FREED_LATE] = "nobody",
        [AT_REFUSED] = "nobody",
    },
    [JOINED] = {
        [AT_FORWARD] = "helper, heard done",
        [AT_STASH] = "own, heard done",
        [AT_RETRY] = "own, heard done",
        [AT_CRASH] = "crashed, heard dead",
        [AT_AGAIN] = "own, heard done",
        [AT_PUT_BACK] = "own, heard done",
        [AT_LOST] = "sibling, heard done",
        [AT_KEPT] = "kept, heard dead",
        [AT_REPLAY] = "any, heard dead",
        [AT_FILE] = "rejected, stored for pool, heard dead",
        [AT_REROUTE] = "sibling, heard done",
        [AT_DISCARD] = "removed, heard dead",
        [AT_LATE] = "sibling, heard done",
        [AT_PAUSE] = "sibling, heard done",
        [AT_GROWTH] = "sibling, heard done",
        [AT_DELAY] = "any, heard done",
        [AT_DROPPED] = "terminated, heard dead",
        [AT_CANCELLED] = "nobody, heard done", /* its worker decided so */
        [AT_FREED] = "nobody, heard done",
        [AT_FREED_LATE] = "nobody, heard done",
        [AT_REFUSED] = "nobody, heard done",
    },
    [TASK] = {
        [AT_FORWARD] = "(a task is no message to its function)",
        [AT_STASH] = "(as above)",
        [AT_RETRY] = "(as above)",
        [AT_CRASH] = "(as above)",
        [AT_AGAIN] = "(as above)",
        [AT_PUT_BACK] = "own, heard done",
        [AT_LOST] = "(a function does not fail its worker)",
        [AT_KEPT] = "(as above)",
        [AT_REPLAY] = "(its argument may be gone: no dead letter of a task is sent again)",
        [AT_FILE] = "(as above)",
        [AT_REROUTE] = "sibling, heard done",
        [AT_DISCARD] = "nobody, heard dead",
        [AT_LATE] = "sibling, heard done",
        [AT_PAUSE] = "sibling, heard done",
        [AT_GROWTH] = "sibling, heard done",
        [AT_DELAY] = NO_TIMER,
        [AT_DROPPED] = NO_TIMER,
        [AT_CANCELLED] = NO_TIMER,
        [AT_FREED] = NOT_OWNED,
        [AT_FREED_LATE] = NOT_OWNED,
        [AT_REFUSED] = NOT_OWNED,
    },
};

/* --- the walk --------------------------------------------------------------------------------- */

static bool is_possible(const char *cell)
{
    return cell && cell[0] != '(';
}

static bool agrees(const char *cell, const char *got)
{
    if (strncmp(cell, "any", 3) != 0)
        return strcmp(cell, got) == 0;
    return (strncmp(got, "own", 3) == 0 && strcmp(got + 3, cell + 3) == 0) ||
           (strncmp(got, "sibling", 7) == 0 && strcmp(got + 7, cell + 3) == 0) ||
           (strncmp(got, "both", 4) == 0 && strcmp(got + 4, cell + 3) == 0);
}

static void walk(enum mark mark)
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        struct setup setup = columns[i].setup;
        struct world w;
        char got[96];

        CU_ASSERT_PTR_NOT_NULL_FATAL(table[mark][i]);
        if (!is_possible(table[mark][i]))
            continue;
        setup.mark = mark;
        world_begin(&w, &setup);
        columns[i].act(&w);
        if (strstr(table[mark][i], "heard"))
            (void)world_heard(&w);
        world_end(&w, got, sizeof got);
        if (!agrees(table[mark][i], got))
            printf("\n    %s / %s: expected \"%s\", got \"%s\"", words[mark], columns[i].word,
                   table[mark][i], got);
        CU_ASSERT_TRUE(agrees(table[mark][i], got));
    }
}

#define WALK(name, word)                                                                           \
    static void test_##name(void)                                                                  \
    {                                                                                              \
        walk(name);                                                                                \
    }
WALK(POOL, )
WALK(DIRECT, )
WALK(COPY, )
WALK(EVENT, )
WALK(EVENT_ALL, )
WALK(REQUEST, )
WALK(LEASED, )
WALK(ORIGIN, )
WALK(JOINED, )
WALK(TASK, )

/* --- takes ------------------------------------------------------------------------------------ */

/* Core's own message: no replay, and no file, has it for a worker. */
static void give_up_a_take(enum mark mark)
{
    const struct setup setup = { .mark = mark };
    struct world w;
    struct dead_letter letter;
    weir_pid pool;
    uint64_t reference;
    char got[96];

    world_begin(&w, &setup);
    pool = mark == GROUPED ? w.group->pid : w.pool->pid;
    CU_ASSERT_EQUAL(runtime_take(w.rig.runtime, NULL, pool, 1000, &reference), 0);
    CU_ASSERT_EQUAL(runtime_cancel(w.rig.runtime, reference), 0);
    world_return(&w);
    CU_ASSERT_TRUE(world_quiet(&w));
    CU_ASSERT_EQUAL(dead_letters_read(&w.pool->dead, &letter, 1), 0);
    CU_ASSERT_TRUE(world_replay(&w));
    CU_ASSERT_EQUAL(w.unable, 0);
    CU_ASSERT_EQUAL(atomic_load(&w.stored), 0);
    CU_ASSERT_EQUAL(probe_count(w.workers), 0);
    world_end(&w, got, sizeof got);
    CU_ASSERT_STRING_EQUAL(got, "nobody");
}

static void test_takes_are_no_dead_letters(void)
{
    give_up_a_take(TAKE);
    give_up_a_take(GROUPED);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "to the pool", test_POOL },
        { "direct", test_DIRECT },
        { "copies", test_COPY },
        { "events", test_EVENT },
        { "events for all", test_EVENT_ALL },
        { "requests", test_REQUEST },
        { "leased", test_LEASED },
        { "origins", test_ORIGIN },
        { "joined", test_JOINED },
        { "tasks", test_TASK },
        { "takes", test_takes_are_no_dead_letters },
        CU_TEST_INFO_NULL,
    };

    return suite_run("marks", tests);
}
