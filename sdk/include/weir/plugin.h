/* SPDX-License-Identifier: MIT */
/*
 * weir/plugin.h - what a plugin provides: the only header that a plugin includes.
 *
 * A plugin is one shared object that exports one constant, weir_plugin_v1, which WEIR_PLUGIN
 * defines. The host reads the constant without running plugin code, fills the settings from YAML,
 * and then calls the callbacks. A plugin links no library of Weir.
 *
 * Threads: a worker runs one callback at a time, and may move to another thread between two
 * callbacks. A plugin therefore keeps its data in `state`. Thread-local variables do not follow a
 * worker that moves. All workers share the globals of the plugin, and two versions of a plugin may
 * be loaded at the same time. A callback must not hold a lock when it returns. A callback that may
 * sleep, read a disk or wait belongs to a behaviour with the flag WEIR_BLOCKING, whose pool runs on
 * a dispatcher of its own.
 *
 * Versions: the name of the exported constant has the major version; the constant has the minor
 * version. A host loads every plugin of its own major version whose minor version is not newer than
 * its own. A plugin is rebuilt to use new features; a host update never requires a rebuild. Within
 * a major version:
 *  - New fields are added at the end of a struct, or replace its first `reserved` zeros. No field
 *    moves, disappears, or changes its type or meaning. Constants keep their numbers.
 *  - Fields that an older SDK did not have are zero: NULL, 0 and false mean the earlier behaviour.
 *  - A struct grows only if it states its size (`size`, or a stride in weir_plugin), or if only the
 *    host makes it. weir_message, weir_tag, weir_field, weir_resized, weir_list, weir_pair and
 *    weir_map are frozen.
 *  - The first addition after a release raises WEIR_ABI_MINOR.
 *
 * C++: fields that are named, as in `.name = "x"`, need C++20, and must be given in the order of
 * their declaration. New fields do not change the order of the older ones.
 */
#ifndef WEIR_PLUGIN_H
#define WEIR_PLUGIN_H

#include "blob.h"
#include "delivery.h"
#include "descriptors.h"
#include "event.h"
#include "fault.h"
#include "host.h"
#include "inspect.h"
#include "label.h"
#include "lease.h"
#include "links.h"
#include "log.h"
#include "port.h"
#include "port_leases.h"
#include "port_tasks.h"
#include "process.h"
#include "resize.h"
#include "source.h"
#include "spawn.h"
#include "task.h"
#include "timer.h"
#include "watch.h"

#define WEIR_ABI_MAJOR 1
#define WEIR_ABI_MINOR 1

/* What `handle` returns and weir_settle takes. Any other number counts as WEIR_FAIL in `handle`;
 * weir_settle refuses it. */
enum weir_verdict {
    WEIR_DONE = 0,   /* handled */
    WEIR_RETRY = 1,  /* the worker gets the message again after the delay of weir_retry_after. The
                      * fourth WEIR_RETRY makes the message a dead letter, unless `retry` of the
                      * pool says otherwise. In the lanes high and urgent it counts as
                      * WEIR_REJECT */
    WEIR_REJECT = 2, /* the message cannot be handled: it becomes a dead letter, and its requester
                      * gets WEIR_EREJECTED */
    WEIR_KEEP = 3,   /* the worker keeps the message and settles it later with weir_settle; at most
                      * `in_hand` messages at a time */
    WEIR_STOP = 4,   /* handled; this incarnation ends normally, and a new one replaces it */
    WEIR_FAIL = 5,   /* this incarnation is broken; a new one replaces it and keeps the mailbox */
    WEIR_POSTPONE = 6, /* as WEIR_RETRY, but not counted: `attempt` stays, any number of times. For
                        * a shortage of the host or the machine, of which the message is innocent:
                        * weir/fault.h. A message with an origin stays here. The worker gets no
                        * other message before it comes again. Since 1.1 */
};

/* What `produce` returns. A negative number is a failure: the host closes the source and opens it
 * again. */
enum weir_produced {
    WEIR_MORE = 0, /* call `produce` again when the target has room */
    WEIR_WAIT = 1, /* the source has nothing now: call `produce` again after the next timer, watch,
                    * message, reply or outcome; after several of them, once */
    WEIR_END = 2,  /* the source has ended */
};

/* Collects the errors that `check` finds. Made by the host. */
struct weir_report {
    void (*error)(struct weir_report *report, const char *option, const char *reason);
};

/* A named output of a behaviour; YAML binds it to a pool. The table ends with a row of zeros. */
struct weir_output {
    const char *name;
    const char *help;
    bool required; /* `weir check` refuses a file that does not bind this output */
    bool expected; /* since 1.1: what is emitted here is what the behaviour is for. `weir check`
                    * warns when a file neither binds this output nor binds it to `none`. It does
                    * not warn when the pool may get requests. Older hosts ignore the field */
    bool asks;     /* since 1.1: requests go to the pool of this output, by weir_target, and their
                    * replies come back. WEIR_ASKING says the same of a source. Older hosts ignore
                    * the field */
    uint8_t reserved[5];
};

enum weir_behaviour_flags {
    WEIR_BLOCKING = 1u << 0,  /* callbacks may wait: the pool runs on a dispatcher for blocking
                               * work */
    WEIR_EXCLUSIVE = 1u << 1, /* two workers cannot run at the same time: a reload stops the old
                               * worker before it opens the new one */
    WEIR_ENDLESS = 1u << 2,   /* a source that never ends: its stop does not count as unfinished
                               * work */
    WEIR_ALONE = 1u << 3,     /* a pool has at most one worker of this behaviour: Weir refuses a
                               * larger `size`, in a file and at run time. Older hosts ignore this
                               * flag */
    WEIR_KEYLESS = 1u << 4,   /* a source that sets no key: `weir check` refuses a file in which
                               * this source feeds a pool with `route: hash`, directly or through
                               * nested pools. With a WEIR_BOOL option `key`, the flag applies only
                               * while `key` is false */
    WEIR_ASKING = 1u << 5,    /* a source that sends requests to the pool of its output, and handles
                               * each refusal itself: `produce` is also called while the target has
                               * no room, with a credit of 0. Older hosts ignore this flag */
    WEIR_GIVES_UP = 1u << 6,  /* a worker whose `leave` decides how long the end of its pool waits
                               * for messages that it keeps. Older hosts ignore this flag */
    WEIR_GATHERS = 1u << 7,   /* a source whose messages go out together when `produce` returns,
                               * where the output's `when_full` is `wait`: they cost less. It
                               * returns WEIR_MORE before it waits for something that may never
                               * come. With WEIR_BLOCKING, a worker with `flush` whose `flush`,
                               * timers and descriptors never wait, so what they wake runs next on
                               * the same thread. Older hosts ignore this flag */
    WEIR_KEYED = 1u << 8,     /* a worker that keeps a state for each key: `weir check` refuses a
                               * pool of such workers with another route than `hash`, and a pool
                               * above it that may send messages of one key to several members.
                               * Older hosts ignore this flag */
    WEIR_ORIGINS = 1u << 9,   /* a source each of whose messages has an origin (weir_set_origin):
                               * `weir check` refuses it before a pool that routes by broadcast,
                               * which refuses such messages. Where an option decides, its `origins`
                               * says so; one with `state` needs neither. Older hosts ignore this
                               * flag */
};

/*
 * A behaviour: the callbacks that a plugin provides for an actor. A worker needs `handle` and a
 * source needs `produce`; every other callback may be NULL.
 *
 * `settings` is the struct that `options` describes. The behaviour borrows it until `close`
 * returns, or until `reconfigure` returns with other settings. `state` is the memory of this
 * incarnation: `state_size` zeroed bytes, aligned to 16. With a `state_size` of 0 it points to no
 * memory: a use of it ends the host, whose last line then says why.
 */
struct weir_behaviour {
    const char *name;                  /* used in YAML as plugin.name */
    const char *summary;               /* one line */
    const struct weir_option *options; /* may be NULL */
    const struct weir_output *outputs; /* may be NULL */
    uint32_t settings_size;
    uint32_t state_size;
    uint32_t flags; /* enum weir_behaviour_flags */
    /* Unsettled messages of one worker at a time; 0 = 1. To settle one, the host scans those that
     * the worker keeps, from the oldest to it: with many thousands the newest one takes long. */
    uint32_t in_hand;

    /* Checks rules that involve several options. Pure: no I/O, no threads. Reports through
     * weir_report_error. */
    void (*check)(const void *settings, struct weir_report *report);
    /* Called first. Returns 0 or a negative status. After a negative status the host tries again
     * later, or refuses the reload. */
    int (*open)(struct weir_self *self, const void *settings, void *state);
    /* Called for each message. Borrows the message. Returns a weir_verdict. */
    int (*handle)(struct weir_self *self, void *state, const struct weir_message *message);
    /* Called for a source when its target has room (see WEIR_ASKING). Emits up to `credit`
     * messages. Returns a weir_produced. */
    int (*produce)(struct weir_self *self, void *state, uint32_t credit);
    /* Called with new settings when all changed options are `live`. Cannot fail. */
    void (*reconfigure)(struct weir_self *self, void *state, const void *settings);
    /* Called last, once, after a successful `open`. `reason` is a weir_end_reason. May still
     * emit. */
    void (*close)(struct weir_self *self, void *state, int reason);

    /* Since 1.1. Called once for each message whose origin is this incarnation, when the message
     * has ended. */
    void (*settled)(struct weir_self *self, void *state, const struct weir_outcome *outcome);
    /*
     * Since 1.1. Gives a source the position that its predecessor stored with weir_leave_position.
     * Called once, after `open` and before the first `produce`. The predecessor may have had other
     * settings or another version; a source ignores a position that it cannot use. Borrows the
     * position. When there is no position, or `resume` is NULL, the source begins where its
     * settings say.
     */
    void (*resume)(struct weir_self *self, void *state, const void *position, size_t size);
    /* Since 1.1. Called when an event that this incarnation owns gets its first subscriber or loses
     * its last one. `subscribers` is the number of subscribers; 0 after the last one has left. */
    void (*audience)(struct weir_self *self, void *state, uint64_t event, uint32_t subscribers);
    /* Since 1.1. Called for an inspect. Adds figures with weir_inspect_add. The callback must be
     * short and must change nothing. The host may call it between any two other callbacks. */
    void (*inspect)(struct weir_self *self, void *state, struct weir_inspection *out);
    /* Since 1.1. Called once for each message of weir_send_after that its receiver refused when it
     * was due. The message becomes a dead letter. For a message with an origin the host calls
     * `settled` instead. */
    void (*undelivered)(struct weir_self *self, void *state, const struct weir_undelivered *what);
    /*
     * Since 1.1. Called after the host receives USR1 or HUP, because files may have been renamed,
     * as logrotate does. A worker that writes a file opens its path again. If the path cannot be
     * opened, the worker keeps the old file and logs the failure. The host calls it between two
     * messages, also when the mailbox is full.
     */
    void (*reopen)(struct weir_self *self, void *state);
    /* Since 1.1. Called before a worker is leased: a health check. Returns 0; with any other number
     * the worker is closed and opened again, and the taker gets another one. NULL: 0. */
    int (*taken)(struct weir_self *self, void *state);
    /* Since 1.1. Called when a lease is over and the worker continues, to reset its state: a
     * ROLLBACK, for example. The worker has handled all messages that it accepted under the lease.
     * Returns 0; with any other number the worker is closed and opened again, at once: this is no
     * failure, so a worker can end itself at a certain age. NULL: 0. */
    int (*returned)(struct weir_self *self, void *state);
    /*
     * Since 1.1. Called in each turn of a source that must end: because of a reload, or because the
     * host stops. From then on the source takes no input except the messages in its mailbox.
     * Returns WEIR_WAIT while it still has requests to answer; it arms a timer or a watch that
     * wakes it. Returns WEIR_END otherwise: the host closes the source when it keeps no message and
     * its own messages are settled. NULL: WEIR_END.
     *
     * Also called in each turn of a worker that must end, when it has finished its messages and
     * gets no other one. Returns WEIR_WAIT while it waits for something outside of the program,
     * such as the end of a child process, and WEIR_END when `close` may be called. No thread waits
     * meanwhile, and all workers of a pool leave at the same time; a `close` that waits holds its
     * thread. `remove.timeout` bounds that time. Not called when the worker fails, restarts or is
     * stopped now: then `close` comes at once.
     *
     * With WEIR_GIVES_UP also called, when the whole pool ends, while the worker keeps messages, or
     * has some and takes none (weir_set_demand 0), since a server is not there. WEIR_END: they are
     * dead and stored, as at the end of the host's `shutdown_timeout`. At the end of a host such a
     * pool closes before its turn when it ends none of its messages for 1.5 s.
     */
    int (*leave)(struct weir_self *self, void *state);
    /*
     * Since 1.1. For a worker that gathers messages, to write many at once. Called when `handle`
     * was called and no other message waits, at the latest after 1024 messages or some 1 ms; also
     * before the worker closes, goes back from a lease, or gets no message since it keeps
     * `in_hand`.
     * Between two calls the worker gets its messages one after another, also with WEIR_BLOCKING:
     * `handle` only gathers, and never waits. What has enough calls weir_set_demand with 0 there:
     * then `flush` comes next, and sets the demand again.
     *
     * `handle` returns WEIR_KEEP. `flush` returns WEIR_DONE: all messages that the worker keeps are
     * done; or WEIR_KEEP: it has settled some with weir_settle, and keeps the others; or WEIR_STOP:
     * it has settled all, and this incarnation ends normally. Any other number counts as WEIR_FAIL.
     * A failure of the incarnation ends what it keeps, without `flush`: one message on which the
     * worker fails ends, or gives again, up to 1023 others.
     * Older hosts ignore this callback.
     */
    int (*flush)(struct weir_self *self, void *state);
};

/* The exported constant. `size` and `abi_minor`, the first 8 bytes, never move: the host checks
 * them before it reads the rest. */
struct weir_plugin {
    uint32_t size;      /* sizeof(struct weir_plugin) when the plugin was built */
    uint32_t abi_minor; /* WEIR_ABI_MINOR when the plugin was built; the symbol's name has the
                         * major */
    const char *name;
    const char *version;
    const struct weir_behaviour *behaviours; /* ends with a row of zeros */
    uint32_t behaviour_size;                 /* strides of the tables, because rows may grow
                                              * later */
    uint32_t option_size;
    uint32_t output_size;
    uint32_t reserved;

    /* Since 1.1. If not NULL, the host reads this list of behaviours and ignores the table. Ends
     * with NULL. */
    const struct weir_behaviour *const *behaviour_list;
    uint32_t flags; /* since 1.1: WEIR_UNLOADABLE */
    uint32_t reserved_more;
};

#define WEIR_PLUGIN_SYMBOL "weir_plugin_v1"

/*
 * Since 1.1. For `flags`: the host may unmap the plugin's code after a reload has replaced this
 * version and its last worker has ended. The plugin must therefore leave nothing that refers to its
 * code: no thread, no thread-local key with a destructor, no signal handler, and no linked library
 * that leaves one of these. weir_kit_leaves_nothing tests this. Without the flag every version
 * stays in memory until the host exits.
 */
#define WEIR_UNLOADABLE (1u << 0)

/* The flags of the plugin. To set them, define WEIR_PLUGIN_FLAGS as WEIR_UNLOADABLE before
 * including this file. */
#ifndef WEIR_PLUGIN_FLAGS
#define WEIR_PLUGIN_FLAGS 0
#endif

#ifdef __cplusplus
#define WEIR_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define WEIR_EXPORT __attribute__((visibility("default")))
#endif

#define WEIR_PLUGIN_CONSTANT(plugin_name, plugin_version, table, list)                             \
    WEIR_EXPORT const struct weir_plugin weir_plugin_v1;                                           \
    WEIR_EXPORT const struct weir_plugin weir_plugin_v1 = {                                        \
        sizeof(struct weir_plugin),                                                                \
        WEIR_ABI_MINOR,                                                                            \
        plugin_name,                                                                               \
        plugin_version,                                                                            \
        table,                                                                                     \
        sizeof(struct weir_behaviour),                                                             \
        sizeof(struct weir_option),                                                                \
        sizeof(struct weir_output),                                                                \
        0,                                                                                         \
        list,                                                                                      \
        WEIR_PLUGIN_FLAGS,                                                                         \
        0,                                                                                         \
    }

/* Defines the exported constant: WEIR_PLUGIN("name", "1.0.0", behaviours); once, at the end of the
 * plugin. `behaviours` is a table that ends with a row of zeros. */
#define WEIR_PLUGIN(plugin_name, plugin_version, plugin_behaviours)                                \
    WEIR_PLUGIN_CONSTANT(plugin_name, plugin_version, plugin_behaviours, NULL)

/*
 * As WEIR_PLUGIN, for a plugin whose behaviours are in several files. A header declares them:
 *
 *     extern const struct weir_behaviour split, count;
 *     WEIR_PLUGIN_OF("name", "1.0.0", &split, &count);
 */
#define WEIR_PLUGIN_OF(plugin_name, plugin_version, ...)                                           \
    static const struct weir_behaviour *const weir_plugin_list[] = { __VA_ARGS__, NULL };          \
    WEIR_PLUGIN_CONSTANT(plugin_name, plugin_version, NULL, weir_plugin_list)

/* For `check`: reports that an option is wrong, with a reason formatted as by printf and cut to 255
 * bytes. `option` is its name; NULL means all options together. Borrows all arguments. */
WEIR_PRINTF(3, 4)
WEIR_INLINE void weir_report_error(struct weir_report *report, const char *option,
                                   const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report->error(report, option, text);
}

/*
 * In the test program of a plugin: weir::testkit defines WEIR_TESTKIT, so that the test kit names
 * the line that made a message which the plugin then forgot.
 */
#ifdef WEIR_TESTKIT
#ifdef __cplusplus
extern "C"
#endif
    void
    weir_kit_line(const char *file, int line);
#define weir_message_new(...) (weir_kit_line(__FILE__, __LINE__), weir_message_new(__VA_ARGS__))
#define weir_message_new_labelled(...)                                                             \
    (weir_kit_line(__FILE__, __LINE__), weir_message_new_labelled(__VA_ARGS__))
#define weir_message_with_blob(...)                                                                \
    (weir_kit_line(__FILE__, __LINE__), weir_message_with_blob(__VA_ARGS__))
#define weir_port_message_new(...)                                                                 \
    (weir_kit_line(__FILE__, __LINE__), weir_port_message_new(__VA_ARGS__))
#endif

#endif
