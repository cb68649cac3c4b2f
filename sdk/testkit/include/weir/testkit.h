/* SPDX-License-Identifier: MIT */
/*
 * weir/testkit.h - runs one behaviour of a plugin on the thread of a test, and records its calls.
 *
 * Compile the plugin into the test program and link weir::testkit. The kit replaces the host. It
 * has no second thread and never waits; only the test moves its clock. The test decides which
 * callback runs next. The kit records the host calls of the plugin, and the test reads them:
 *
 *     struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "pick");
 *     CU_ASSERT_EQUAL(weir_kit_open_args(kit, "of: 3"), 0);
 *     CU_ASSERT_EQUAL(weir_kit_handle(kit, "gen.number/1", &number, sizeof number), WEIR_DONE);
 *     CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit), "3\n");
 *     CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
 *
 * A *problem* is a mistake that no plugin may make:
 *  - a message that the plugin made and neither sent nor freed, that it freed or sent twice, or
 *    that it sent although it only borrows it;
 *  - a message that the plugin kept and never settled, that it settled twice, or that it settled
 *    without keeping it; more kept messages than `in_hand`;
 *  - a state that the behaviour writes to although its `state_size` is 0;
 *  - an unknown verdict, more messages produced than the credit, an undeclared output;
 *  - a callback that the test calls before `open`, or that the behaviour does not have.
 *
 * The kit names the line that made a message which is neither sent nor freed. For this,
 * weir::testkit defines WEIR_TESTKIT where the plugin is compiled; a build without CMake does so
 * itself.
 *
 * Room: without weir_kit_limit the pools behind the outputs have no room while a callback runs, and
 * take everything before the next one. So one callback can emit 256 messages; weir_emit returns
 * WEIR_EFULL for the next one, as in a host.
 *
 * The fields of a message, and the payload of a sent message, stay readable until weir_kit_destroy.
 * When a message is freed or settled, the kit frees its payload, so that AddressSanitizer finds a
 * later access.
 *
 * All results are borrowed until weir_kit_destroy, but a text only until the next call of any
 * function here. The kit aborts the program when its own memory is out. Not synchronised.
 */
#ifndef WEIR_TESTKIT_H
#define WEIR_TESTKIT_H

#include <weir/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_kit;

/* The line that makes the next message of this thread: called by macros in <weir/plugin.h>. Borrows
 * the name until weir_kit_destroy. */
void weir_kit_line(const char *file, int line);

/* The PID that weir_target returns for output 0; those of the next outputs follow. */
#define WEIR_KIT_TARGET ((weir_pid)0x7a0000)

/* --- life ------------------------------------------------------------------------------------- */

/* Makes a kit for one behaviour. Returns owned; NULL: the plugin has no such behaviour, and the
 * names of those that it has are on standard error. Calls that open a worker or give it a message
 * refuse NULL. Borrows the plugin until weir_kit_destroy. */
struct weir_kit *weir_kit_create(const struct weir_plugin *plugin, const char *behaviour);
/* Closes the worker, prints all problems to standard error and frees the kit. Takes the kit.
 * Returns the number of problems; 0 for NULL. */
size_t weir_kit_destroy(struct weir_kit *kit);

/*
 * Makes settings from the text below `args:` in a YAML file, such as "of: 25\npaths: [a, b]". The
 * kit uses the reader, the table of options and the defaults of the host, and then runs `check`.
 * NULL: there are mistakes; weir_kit_mistakes returns them in the words of the host. `${NAME}` is a
 * variable of the test's own environment. A text without keys gives the defaults.
 */
const void *weir_kit_settings(struct weir_kit *kit, const char *args);
/* The mistakes of the last text, one line each: `args:1:5: of: must be 1..9, got 0`; "" = no
 * mistake. */
const char *weir_kit_mistakes(const struct weir_kit *kit);
/* Calls weir_kit_settings, then weir_kit_open. WEIR_EINVALID when there are mistakes. */
int weir_kit_open_args(struct weir_kit *kit, const char *args);
/* As weir_kit_open_args, with a text formatted as by printf: for paths and ports that the test
 * found. */
WEIR_PRINTF(2, 3) int weir_kit_open_format(struct weir_kit *kit, const char *format, ...);
/*
 * Simulates a reload with these args: runs `reconfigure` if every changed option is live, and
 * nothing if no option changed. WEIR_EINVALID: there are mistakes. WEIR_ENOTALLOWED: the worker is
 * not open, or an option that is not live changed; the host would open a new worker.
 */
int weir_kit_reconfigure_args(struct weir_kit *kit, const char *args);

/* Runs `check` on settings that the test made. Borrows them. Returns a line `option: reason` for
 * each error; "" = no error. */
const char *weir_kit_check(struct weir_kit *kit, const void *settings);
/* Runs `open` with zeroed state. Borrows the settings until `close`. Returns the result of
 * `open`. */
int weir_kit_open(struct weir_kit *kit, const void *settings);
/* Runs `reconfigure`. Borrows the settings until `close`. */
void weir_kit_reconfigure(struct weir_kit *kit, const void *settings);
/* Runs `reopen`. */
void weir_kit_reopen(struct weir_kit *kit);

/* Runs `taken`, or `returned`, and returns its result. */
int weir_kit_taken(struct weir_kit *kit);
int weir_kit_returned(struct weir_kit *kit);
/* Runs `close` if the worker is open. */
void weir_kit_close(struct weir_kit *kit, enum weir_end_reason reason);
/* The state of the worker; NULL before weir_kit_open. */
void *weir_kit_state(struct weir_kit *kit);

/* --- running ---------------------------------------------------------------------------------- */

/* The tag of a name: the same pointer that the plugin gets, in all kits of the program. Borrows the
 * name. NULL as from weir_tag. */
const struct weir_tag *weir_kit_tag(struct weir_kit *kit, const char *name);
/* Runs `handle` with a message whose payload is a copy of these bytes. Returns the verdict. */
int weir_kit_handle(struct weir_kit *kit, const char *tag, const void *data, size_t size);
/* As weir_kit_handle; the payload is a blob of these bytes. */
int weir_kit_handle_blob(struct weir_kit *kit, const char *tag, const void *data, size_t size);
/* As weir_kit_handle; the message is a request. */
int weir_kit_request(struct weir_kit *kit, const char *tag, const void *data, size_t size);
/* As weir_kit_handle, with the public fields of `like`: kind, attempt, key, from, ... Borrows
 * `like`. */
int weir_kit_deliver(struct weir_kit *kit, const struct weir_message *like);
/* Runs `flush`, which the host calls after one or more messages. Returns what it returned; after
 * WEIR_DONE the kept messages are settled. */
int weir_kit_flush(struct weir_kit *kit);
/* Runs `resume` of an open source with a position that another source stored. Borrows the
 * position. */
void weir_kit_resume(struct weir_kit *kit, const void *position, size_t size);
/* The position of the last weir_leave_position, also after `close`; NULL and 0 when there is
 * none. */
const void *weir_kit_left(const struct weir_kit *kit, size_t *out_size);
/* Runs `leave` of an open source or worker, and returns its result. */
int weir_kit_leave(struct weir_kit *kit);
/* Runs `produce`, as the host with a credit of at most 256. Returns its result. */
int weir_kit_produce(struct weir_kit *kit, uint32_t credit);
/* Runs `produce` until it returns another value than WEIR_MORE. Returns this value. */
int weir_kit_produce_all(struct weir_kit *kit, uint32_t credit);

/* Moves the clock. Runs the timers and time-outs of requests up to the new time, in order. */
void weir_kit_advance(struct weir_kit *kit, uint64_t delay_ms);
/* Answers a request of the plugin, with a message if the status is 0. Borrows the data.
 * WEIR_EUNKNOWN: the plugin waits for no request with this reference. */
int weir_kit_answer(struct weir_kit *kit, uint64_t reference, int status, const char *tag,
                    const void *data, size_t size);

/*
 * Runs the watch of this descriptor, ready or not, with `readiness`: bits of enum weir_readiness,
 * or WEIR_EINVALID. WEIR_EUNKNOWN: the descriptor has no watch.
 */
int weir_kit_ready(struct weir_kit *kit, int descriptor, int readiness);
/* Runs each watch whose descriptor is ready at this moment, once. Returns the number of these
 * watches. Never waits. A descriptor that was closed before its watch ended is a problem; the watch
 * gets WEIR_EINVALID. */
size_t weir_kit_poll(struct weir_kit *kit);
/* The number of open watches. */
size_t weir_kit_watch_count(const struct weir_kit *kit);

/* Runs `handle` with each message that was unstashed or put back before this call, in order.
 * Returns the number of these messages. */
size_t weir_kit_handle_unstashed(struct weir_kit *kit);
/* Sets the number of subscribers of an event of the behaviour; they take every message. Runs
 * `audience` for the first subscriber, and when the last one has left. WEIR_EUNKNOWN: the behaviour
 * does not own an event with this name. */
int weir_kit_audience(struct weir_kit *kit, const char *event, uint32_t subscribers);
/* Answers the oldest weir_pool_tell of the worker: runs `handle` with WEIR_POOL_RESIZED and these
 * figures, in the lane high. Returns the verdict. WEIR_EUNKNOWN: there is no open
 * weir_pool_tell. */
int weir_kit_resized(struct weir_kit *kit, uint32_t live, int error);
/* Runs `inspect` for these items; `items` ends with NULL, and `items` = NULL asks for all items.
 * Returns a line `item=value` for each item of the behaviour, without those of the host. An item
 * that the behaviour adds twice is a problem. */
const char *weir_kit_inspect(struct weir_kit *kit, const char *const *items);
/* True when the behaviour has subscribed to the event of this name. */
bool weir_kit_is_subscribed(const struct weir_kit *kit, const char *event);
/* Runs `settled` for a message that left with this worker as its origin; once for each message.
 * Borrows the outcome. The kit fills in reason and detail when they are not set. WEIR_EUNKNOWN: no
 * message has this token. */
int weir_kit_tell(struct weir_kit *kit, const struct weir_outcome *outcome);

/* --- the worker's surroundings -----------------------------------------------------------------
 * */

/* Makes the nth call from now that needs memory (tag, message, timer, request) fail; 0: no call
 * fails. */
void weir_kit_fail_allocation(struct weir_kit *kit, uint32_t nth);
/* As weir_kit_fail_allocation, for `count` calls from the nth on; UINT32_MAX = all of them. */
void weir_kit_fail_allocations(struct weir_kit *kit, uint32_t nth, uint32_t count);
/* As the option `host.memory`, for each message alone: a larger one is never made; 0, as at first:
 * no limit. */
void weir_kit_limit_memory(struct weir_kit *kit, uint64_t bytes);
/* Accepts `room` more emits (in place of the 256 of a callback), sends, requests and takes; every
 * later one returns `status`. The kit then also refuses a message of weir_send_after that is due,
 * and runs `undelivered`, or `settled` if the message has an origin. */
void weir_kit_limit(struct weir_kit *kit, uint32_t room, int status);
/* The largest share of descriptors (weir_set_descriptors) that is granted from now on; UINT32_MAX,
 * as at first: any. */
void weir_kit_limit_descriptors(struct weir_kit *kit, uint32_t limit);
/* Ends a child. The test itself sends the WEIR_DOWN or WEIR_EXIT message, with weir_kit_deliver.
 * WEIR_EUNKNOWN: the child does not exist or has ended. */
int weir_kit_end_child(struct weir_kit *kit, weir_pid child);
/* Sets the result of weir_parent; 0 at first. */
void weir_kit_parent(struct weir_kit *kit, weir_pid parent);
/* Sets the result of weir_time_left for requests, in milliseconds; UINT64_MAX at first. */
void weir_kit_time_left(struct weir_kit *kit, uint64_t time_left_ms);
/* Sets whether the result of a message is wanted; true at first. With false, weir_is_wanted is
 * false for every message, as when the worker must stop now or the group of the message was
 * cancelled. */
void weir_kit_wanted(struct weir_kit *kit, bool wanted);
/* Sets the index of the worker and the PID of its pool; 0 and 0 at first. */
void weir_kit_place(struct weir_kit *kit, uint32_t index, weir_pid pool);
/* Gives a PID a name for weir_lookup, which also finds the names of the worker. Copies the name. */
void weir_kit_name(struct weir_kit *kit, const char *name, weir_pid pid);
/* The figures that weir_pool_stats returns; the test may change them. weir_pool_resize and
 * weir_pool_add change target and epoch. */
struct weir_pool_stats *weir_kit_pool(struct weir_kit *kit);

/* --- the worker's actions ----------------------------------------------------------------------
 * */

enum weir_kit_way {
    WEIR_KIT_EMIT = 1,
    WEIR_KIT_SEND = 2,
    WEIR_KIT_REQUEST = 3,
    WEIR_KIT_REPLY = 4,
    WEIR_KIT_FORWARD = 5,
    WEIR_KIT_PUBLISH = 6,
    WEIR_KIT_INSPECT = 7, /* has no message; weir_kit_answer answers it, with the payload `name NUL
                           * value NUL` */
    WEIR_KIT_TAKE = 8,    /* has no message; weir_kit_answer answers it, with a struct weir_lease */
    WEIR_KIT_RETURN = 9,  /* has no message */
};

/* One message that left the worker. */
struct weir_kit_sent {
    enum weir_kit_way way;
    uint32_t output; /* of an emit */
    weir_pid to;     /* of a send, a request, a forward, an inspect; the pool of a take; the member
                      * of a return */
    enum weir_lane lane;
    uint64_t reference; /* of a request, an inspect or a take, for weir_kit_answer */
    const struct weir_message *message;
    uint64_t token; /* the token of weir_set_origin, 0 without one; of a publish: the event; of a
                     * return: of the lease */
    int how;        /* of a return: WEIR_DONE or WEIR_FAIL */
    /* The message whose origin it joins: the message in hand at the emit, or the one of weir_join.
     * NULL: it joins none, since it was emitted elsewhere, has an origin of its own, or is
     * detached. */
    const struct weir_message *joins;
};

size_t weir_kit_sent_count(const struct weir_kit *kit);
/* The message that left as number `index`; NULL after the last. */
const struct weir_kit_sent *weir_kit_sent(const struct weir_kit *kit, size_t index);
/* The message that was emitted at this output as number `index`; NULL after the last. */
const struct weir_message *weir_kit_emitted(const struct weir_kit *kit, uint32_t output,
                                            size_t index);
/* The reply with number `index`; NULL after the last. */
const struct weir_message *weir_kit_replied(const struct weir_kit *kit, size_t index);

/* An actor that the worker spawned. The child never runs; the test of its behaviour has another
 * kit. */
struct weir_kit_child {
    weir_pid pid;
    const char *behaviour; /* its name */
    const void *settings;  /* a copy */
    uint32_t limit;
    uint32_t flags;   /* enum weir_spawn_flags */
    bool stopped;     /* by weir_stop or weir_stop_now */
    bool stopped_now; /* by weir_stop_now */
    bool ended;       /* by weir_kit_end_child, or with the incarnation */
};

size_t weir_kit_child_count(const struct weir_kit *kit);
/* In the order of spawning; NULL after the last. */
const struct weir_kit_child *weir_kit_child(const struct weir_kit *kit, size_t index);

/* The number of messages that `handle` or weir_settle settled with this verdict. */
size_t weir_kit_settled_count(const struct weir_kit *kit, enum weir_verdict verdict);
/* The number of messages in the stash, without unstashed ones. */
size_t weir_kit_stashed_count(const struct weir_kit *kit);
/* The number of calls of weir_put_back that took a message. */
size_t weir_kit_put_back_count(const struct weir_kit *kit);
/* The number of kept messages. */
size_t weir_kit_kept_count(const struct weir_kit *kit);
/* The worker's demand: the largest number of unsettled messages that it wants (weir_set_demand).
 * The host gives it no new message while weir_kit_kept_count has reached this number. */
uint32_t weir_kit_demand(const struct weir_kit *kit);
/* The worker's share of descriptors (weir_set_descriptors). */
uint32_t weir_kit_descriptors(const struct weir_kit *kit);
/* The process that the worker has named (weir_child_process); 0: none. */
int64_t weir_kit_child_process(const struct weir_kit *kit);
/* The reason and the delay (milliseconds) that the last callback set; "" and 0 when it set none. */
const char *weir_kit_reason(const struct weir_kit *kit);
uint64_t weir_kit_retry_ms(const struct weir_kit *kit);

/* Everything that the worker printed. */
const char *weir_kit_printed(const struct weir_kit *kit);
/* All log lines: `warning unreadable path=x errno=2`. */
const char *weir_kit_logged(const struct weir_kit *kit);
/* True when a line of this level contains `part`; the number of lines. */
bool weir_kit_has_logged(const struct weir_kit *kit, enum weir_log_level level, const char *part);
size_t weir_kit_log_count(const struct weir_kit *kit);
/* The last progress of this unit; 0 when there is none, or no total. */
uint64_t weir_kit_done(const struct weir_kit *kit, const char *unit);
uint64_t weir_kit_total(const struct weir_kit *kit, const char *unit);
/* The last text of this unit, by weir_progress_text; NULL when there is none. Borrowed until the
 * next text of the unit. */
const char *weir_kit_text(const struct weir_kit *kit, const char *unit);
int weir_kit_exit_status(const struct weir_kit *kit);
/* The enum weir_end_reason with which the worker asked for its own end, by weir_exit; -1: it did
 * not. With WEIR_END_CRASH or WEIR_END_KILL it may leave kept messages: the host delivers them
 * again, or makes them dead letters. */
int weir_kit_own_end(const struct weir_kit *kit);
/* The number of armed timers, and of requests without an answer. */
size_t weir_kit_timer_count(const struct weir_kit *kit);
size_t weir_kit_open_request_count(const struct weir_kit *kit);

/*
 * For a plugin that declares WEIR_UNLOADABLE. Calls `work`, which runs the behaviours of the plugin
 * in kits of its own, from weir_kit_create to weir_kit_destroy. Then searches the process for
 * resources that are left: threads, keys of thread-local data, signal handlers. Returns true when
 * there are none; otherwise names them on standard error and returns false. If a library keeps
 * resources from its first use, call the function twice.
 */
bool weir_kit_leaves_nothing(void (*work)(void *context), void *context);

/* All problems so far, one line each. */
const char *weir_kit_problems(const struct weir_kit *kit);

#ifdef __cplusplus
}
#endif

#endif
