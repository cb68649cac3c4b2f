/*
 * weir/testkit.h - runs one behaviour of a plugin on the thread of a test, and watches it.
 *
 * Compile the plugin into the test program and link weir::testkit. The kit stands in for the host:
 * no thread, no waiting, a clock that only the test moves. What a plugin does is written down, to
 * be looked at; what no plugin may do is a *problem*:
 *
 *     struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "pick");
 *     CU_ASSERT_EQUAL(weir_kit_open_args(kit, "of: 3"), 0);
 *     CU_ASSERT_EQUAL(weir_kit_handle(kit, "gen.number/1", &number, sizeof number), WEIR_DONE);
 *     CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit), "3\n");
 *     CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
 *
 * Problems: a message that was made and neither sent nor freed, freed twice, sent twice, or sent
 * though only borrowed; one that was kept and settled twice or never, or settled and not kept; more
 * kept than `in_hand`; an unknown verdict; more produced than was asked for; an output that the
 * behaviour does not declare; and of the test: a callback that is asked for before `open`, or that
 * the behaviour has not. Messages stay readable until weir_kit_destroy, those that the plugin
 * has no right to any more without their payload, so that AddressSanitizer finds who still looks.
 *
 * All that is returned is borrowed until weir_kit_destroy, texts until the next call of any
 * function here. When the kit itself has no memory the program is aborted. Not synchronised.
 */
#ifndef WEIR_TESTKIT_H
#define WEIR_TESTKIT_H

#include <weir/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_kit;

/* --- life ------------------------------------------------------------------------------------- */

/* Returns owned; NULL when the plugin has no such behaviour. Borrows the plugin until destroy. */
struct weir_kit *weir_kit_create(const struct weir_plugin *plugin, const char *behaviour);
/* Closes what is open, prints all problems to standard error, frees. How many problems; NULL: 0. */
size_t weir_kit_destroy(struct weir_kit *kit);

/*
 * Settings from what stands below `args:` in a YAML file, such as "of: 25\npaths: [a, b]". The
 * reader, the table of options and the defaults are those of the host, and then `check` runs. NULL
 * when there are mistakes; weir_kit_mistakes tells them in the words of the host. `${NAME}` is a
 * variable of the test's own environment. No text, or one without keys, gives the defaults.
 */
const void *weir_kit_settings(struct weir_kit *kit, const char *args);
/* Of the last text: a line `args:1:5: of: must be 1..9, got 0` for each; "" when there is none. */
const char *weir_kit_mistakes(const struct weir_kit *kit);
/* weir_kit_settings, then weir_kit_open. WEIR_EINVALID when there are mistakes. */
int weir_kit_open_args(struct weir_kit *kit, const char *args);
/* Likewise, of a text as printf makes it: for paths and ports that the test has found. */
WEIR_PRINTF(2, 3) int weir_kit_open_format(struct weir_kit *kit, const char *format, ...);
/*
 * As a reload with these args: `reconfigure` when every changed option is live, nothing when none
 * is changed. WEIR_EINVALID when there are mistakes; WEIR_ENOTALLOWED when an option is changed
 * that is not live, for then the host opens a new worker, or when the worker is not open.
 */
int weir_kit_reconfigure_args(struct weir_kit *kit, const char *args);

/* Runs `check` on settings of the test's own: a line `option: reason` for each error, or "". */
const char *weir_kit_check(struct weir_kit *kit, const void *settings);
/* Runs `open` with zeroed state. Borrows the settings until `close`. 0 or what `open` answered. */
int weir_kit_open(struct weir_kit *kit, const void *settings);
/* Runs `reconfigure`. Borrows the settings until `close`. */
void weir_kit_reconfigure(struct weir_kit *kit, const void *settings);
/* Runs `reopen`. */
void weir_kit_reopen(struct weir_kit *kit);
/* Runs `close`, if it is open. */
void weir_kit_close(struct weir_kit *kit, enum weir_end_reason reason);
/* The state of the worker; NULL before weir_kit_open. */
void *weir_kit_state(struct weir_kit *kit);

/* --- running ---------------------------------------------------------------------------------- */

/* The tag of a name; the same pointer as the plugin gets. */
const struct weir_tag *weir_kit_tag(struct weir_kit *kit, const char *name);
/* Hands a copy of the payload to `handle`, as a message. Returns the verdict. */
int weir_kit_handle(struct weir_kit *kit, const char *tag, const void *data, size_t size);
/* Likewise, as a message whose payload is a blob of these bytes. */
int weir_kit_handle_blob(struct weir_kit *kit, const char *tag, const void *data, size_t size);
/* Likewise, as a request. */
int weir_kit_request(struct weir_kit *kit, const char *tag, const void *data, size_t size);
/* Likewise, with all public fields as in `like`: kind, attempt, key, from. Borrows. */
int weir_kit_deliver(struct weir_kit *kit, const struct weir_message *like);
/* Runs `resume` of an open source with what another one left. Borrows. */
void weir_kit_resume(struct weir_kit *kit, const void *position, size_t size);
/* What weir_leave_position was given last, also after `close`; NULL and 0 when nothing. */
const void *weir_kit_left(const struct weir_kit *kit, size_t *out_size);
/* Runs `produce`. Returns what it answered. */
int weir_kit_produce(struct weir_kit *kit, uint32_t credit);
/* Likewise, again and again until it answers anything but WEIR_MORE, and returns that. */
int weir_kit_produce_all(struct weir_kit *kit, uint32_t credit);

/* Moves the clock; what is due on the way happens in order, timers and time-outs of requests. */
void weir_kit_advance(struct weir_kit *kit, uint64_t delay_ms);
/* Answers a request of the plugin: with a message when status is 0. WEIR_EUNKNOWN: not open. */
int weir_kit_answer(struct weir_kit *kit, uint64_t reference, int status, const char *tag,
                    const void *data, size_t size);

/*
 * Tells the watch of this descriptor that it is ready, whether it is or not: for `readiness`, bits
 * of enum weir_readiness, or WEIR_EINVALID. WEIR_EUNKNOWN: nobody watches it for that.
 */
int weir_kit_ready(struct weir_kit *kit, int descriptor, int readiness);
/* Tells the watches whose descriptors are ready at this moment, each once. How many. Waits for
 * nothing. A descriptor that was closed under its watch is told so, and is a problem. */
size_t weir_kit_poll(struct weir_kit *kit);
/* Watches that wait. */
size_t weir_kit_watch_count(const struct weir_kit *kit);

/* Hands what was unstashed to `handle` again, in order. How many. */
size_t weir_kit_handle_unstashed(struct weir_kit *kit);
/* Gives an event that the behaviour owns so many subscribers, who take all of it; `audience` is
 * told when the first came or the last went. WEIR_EUNKNOWN: it owns none of this name. */
int weir_kit_audience(struct weir_kit *kit, const char *event, uint32_t subscribers);
/* Tells the worker how the opens of a change went, as it asked for by weir_pool_tell, the oldest
 * first: hands WEIR_POOL_RESIZED with these figures to `handle`, in the lane high. Returns the
 * verdict; WEIR_EUNKNOWN: it has asked for nothing that it has not got. */
int weir_kit_resized(struct weir_kit *kit, uint32_t live, int error);
/* Runs `inspect` for these items, ended by NULL; NULL: for all. A line `item=value` for each that
 * the behaviour told; the host's own are not there. An item that is told twice is a problem. */
const char *weir_kit_inspect(struct weir_kit *kit, const char *const *items);
/* Whether the behaviour has subscribed to the event of this name. */
bool weir_kit_is_subscribed(const struct weir_kit *kit, const char *event);
/* Tells `settled` of a message that left with this worker as its origin, once for each: fills in
 * what is not set of reason and detail. WEIR_EUNKNOWN: no such token is open. Borrows. */
int weir_kit_tell(struct weir_kit *kit, const struct weir_outcome *outcome);

/* --- what it shall meet ----------------------------------------------------------------------- */

/* The nth call from now that needs memory (tag, message, timer, request) finds none; 0: never. */
void weir_kit_fail_allocation(struct weir_kit *kit, uint32_t nth);
/* Likewise the nth and those behind it, `count` in all; UINT32_MAX: from then on all. */
void weir_kit_fail_allocations(struct weir_kit *kit, uint32_t nth, uint32_t count);
/* So many more emits, sends and requests are taken; then the answer is `status`, and what was sent
 * later is refused when it is due: `undelivered` is told, or, with an origin, `settled`. */
void weir_kit_limit(struct weir_kit *kit, uint32_t room, int status);
/* A child ends; what watches it is told by weir_kit_deliver. WEIR_EUNKNOWN: no such one lives. */
int weir_kit_end_child(struct weir_kit *kit, weir_pid child);
/* What weir_parent answers; 0 at first. */
void weir_kit_parent(struct weir_kit *kit, weir_pid parent);
/* How long those who sent it requests still want the answers; at first without end. */
void weir_kit_time_left(struct weir_kit *kit, uint64_t time_left_ms);
/* Which worker of which pool it is; 0 and 0 at first. */
void weir_kit_place(struct weir_kit *kit, uint32_t index, weir_pid pool);
/* What weir_lookup finds, besides the names that the worker takes. Copies the name. */
void weir_kit_name(struct weir_kit *kit, const char *name, weir_pid pid);
/* What weir_pool_stats shows, and weir_pool_resize and weir_pool_add change: target and epoch. */
struct weir_pool_stats *weir_kit_pool(struct weir_kit *kit);

/* --- what it did ------------------------------------------------------------------------------ */

enum weir_kit_way {
    WEIR_KIT_EMIT = 1,
    WEIR_KIT_SEND = 2,
    WEIR_KIT_REQUEST = 3,
    WEIR_KIT_REPLY = 4,
    WEIR_KIT_FORWARD = 5,
    WEIR_KIT_PUBLISH = 6,
    WEIR_KIT_INSPECT = 7, /* without a message; answer it as a request, with `name NUL value NUL` */
};

/* One message that left. */
struct weir_kit_sent {
    enum weir_kit_way way;
    uint32_t output; /* of an emit */
    weir_pid to;     /* of a send, a request, a forward, an inspect */
    enum weir_lane lane;
    uint64_t reference; /* of a request or an inspect, for weir_kit_answer */
    const struct weir_message *message;
    uint64_t token; /* as given to weir_set_origin, 0 without one; of a publish: the event */
};

size_t weir_kit_sent_count(const struct weir_kit *kit);
/* In the order of leaving; NULL behind the last. */
const struct weir_kit_sent *weir_kit_sent(const struct weir_kit *kit, size_t index);
/* The index'th message that was emitted at this output; NULL behind the last. */
const struct weir_message *weir_kit_emitted(const struct weir_kit *kit, uint32_t output,
                                            size_t index);
/* The index'th reply; NULL behind the last. */
const struct weir_message *weir_kit_replied(const struct weir_kit *kit, size_t index);

/* An actor that it spawned. Nothing runs it: a test of its behaviour has a kit of its own. */
struct weir_kit_child {
    weir_pid pid;
    const char *behaviour; /* its name */
    const void *settings;  /* a copy */
    uint32_t limit;
    uint32_t flags;   /* enum weir_spawn_flags */
    bool stopped;     /* by weir_stop or weir_stop_now */
    bool stopped_now; /* by the latter */
    bool ended;       /* by weir_kit_end_child, or with the incarnation */
};

size_t weir_kit_child_count(const struct weir_kit *kit);
/* In the order of spawning; NULL behind the last. */
const struct weir_kit_child *weir_kit_child(const struct weir_kit *kit, size_t index);

/* How many messages were settled so: by `handle` or by weir_settle. */
size_t weir_kit_settled_count(const struct weir_kit *kit, enum weir_verdict verdict);
/* Messages that are in the stash now, and not unstashed. */
size_t weir_kit_stashed_count(const struct weir_kit *kit);
/* Messages that are kept now. */
size_t weir_kit_kept_count(const struct weir_kit *kit);
/* Of the last callback: "" and 0 when it said nothing. */
const char *weir_kit_reason(const struct weir_kit *kit);
uint64_t weir_kit_retry_ms(const struct weir_kit *kit);

/* All that was printed. */
const char *weir_kit_printed(const struct weir_kit *kit);
/* All log lines: `warning unreadable path=x errno=2`. */
const char *weir_kit_logged(const struct weir_kit *kit);
/* Whether a line of this level holds `part`; how many lines there are. */
bool weir_kit_has_logged(const struct weir_kit *kit, enum weir_log_level level, const char *part);
size_t weir_kit_log_count(const struct weir_kit *kit);
/* The last progress of this unit; 0 when there was none, or no total. */
uint64_t weir_kit_done(const struct weir_kit *kit, const char *unit);
uint64_t weir_kit_total(const struct weir_kit *kit, const char *unit);
int weir_kit_exit_status(const struct weir_kit *kit);
/* Armed timers, and requests without an answer. */
size_t weir_kit_timer_count(const struct weir_kit *kit);
size_t weir_kit_open_request_count(const struct weir_kit *kit);

/*
 * For a plugin that says WEIR_UNLOADABLE: calls `work`, which runs its behaviours in kits of its
 * own from weir_kit_create to weir_kit_destroy, and looks what that left in the process: threads,
 * keys of thread-local data, signal handlers. False, and told on standard error: there is some.
 * Call it twice when a library makes something at its first use that stays.
 */
bool weir_kit_leaves_nothing(void (*work)(void *context), void *context);

/* All problems up to now, a line each. */
const char *weir_kit_problems(const struct weir_kit *kit);

#ifdef __cplusplus
}
#endif

#endif
