/*
 * weir/plugin.h - what a plugin provides. The one header that its author includes.
 *
 * A plugin is one shared object that exports one constant, weir_plugin_v1, made by WEIR_PLUGIN.
 * The host reads it without running plugin code, fills the settings from YAML, and only then calls
 * back. It links nothing of ours.
 *
 * Threads: one callback at a time per worker, always; but a worker may move from thread to thread
 * between two of them. So: no state in thread-locals, nothing locked across a return, everything
 * in `state`, nothing in globals (two versions of a plugin may be loaded side by side). A callback
 * that may sleep, read a disk or wait for anything belongs to a behaviour flagged WEIR_BLOCKING,
 * whose pool runs on a dispatcher of its own.
 *
 * Versions: the major is in the name of the exported constant, the minor in the constant. A host
 * loads every plugin of its major whose minor is not newer than its own, so a plugin is rebuilt
 * when it wants something new and never because the host is. Within a major, therefore:
 *  - fields are added at the end of a struct, or from the front of its `reserved` zeros; none
 *    moves, changes its type or its meaning, or goes; constants keep their numbers;
 *  - what a plugin's SDK did not know is absent: NULL, 0, false must mean "as it was before";
 *  - a struct grows only if it says how long it is (`size`, or a stride in weir_plugin), or if the
 *    host alone makes it. weir_message, weir_tag, weir_field, weir_resized, weir_list, weir_pair
 *    and weir_map do neither, and are frozen;
 *  - the first addition after a release raises WEIR_ABI_MINOR.
 */
#ifndef WEIR_PLUGIN_H
#define WEIR_PLUGIN_H

#include "blob.h"
#include "delivery.h"
#include "event.h"
#include "host.h"
#include "inspect.h"
#include "port.h"
#include "spawn.h"
#include "watch.h"

#define WEIR_ABI_MAJOR 1
#define WEIR_ABI_MINOR 1

/* What `handle` returns, and weir_settle takes. Any other number counts as WEIR_FAIL. */
enum weir_verdict {
    WEIR_DONE = 0,   /* handled */
    WEIR_RETRY = 1,  /* give it to me again after weir_retry_after, three times at most, then dead
                        letter; in the lanes high and urgent it counts as WEIR_REJECT */
    WEIR_REJECT = 2, /* it cannot be handled: dead letter, its requester is told */
    WEIR_KEEP = 3,   /* I keep it and call weir_settle later; at most `in_hand` at a time */
    WEIR_STOP = 4,   /* handled, and this incarnation ends normally; the place is opened anew */
    WEIR_FAIL = 5,   /* this incarnation is broken: it is replaced, its mailbox is kept */
};

/* What `produce` returns. A negative number is a failure: the source is opened anew. */
enum weir_produced {
    WEIR_MORE = 0, /* call me again when there is room */
    WEIR_WAIT = 1, /* nothing now: call me again after a timer, a watch or a message of mine */
    WEIR_END = 2,  /* that was all */
};

/* Collects what `check` finds. Made by the host. */
struct weir_report {
    void (*error)(struct weir_report *report, const char *option, const char *reason);
};

/* A named way out of a behaviour; YAML binds it to a pool. The table ends with a row of zeros. */
struct weir_output {
    const char *name;
    const char *help;
    bool required; /* `weir check` refuses a file that leaves it unbound */
    uint8_t reserved[7];
};

enum weir_behaviour_flags {
    WEIR_BLOCKING = 1u << 0,  /* callbacks may wait: run me on a dispatcher of my own */
    WEIR_EXCLUSIVE = 1u << 1, /* two of me cannot live side by side: a reload stops me first */
    WEIR_ENDLESS = 1u << 2,   /* a source without an end: to stop it is not to stop too early */
    WEIR_ALONE = 1u << 3,     /* one worker of me is in a pool: `size` is 1, and no larger one is
                                 taken from a file or at run time. Not asked by older hosts */
    WEIR_KEYLESS = 1u << 4,   /* a source that sets no key: the check keeps it from `route: hash`,
                                 also below the pool that it feeds. With an option `key`, a
                                 WEIR_BOOL: while that is not `true` */
};

/*
 * What a plugin provides for an actor. All callbacks but `handle` (of a worker) or `produce` (of a
 * source) may be NULL. `settings` is the struct that `options` describes; borrowed until `close`
 * returned, or until the next `reconfigure` brought another. `state` is `state_size` zeroed bytes
 * of this incarnation's own, aligned to 16.
 */
struct weir_behaviour {
    const char *name;                  /* used in YAML as plugin.name */
    const char *summary;               /* one line */
    const struct weir_option *options; /* may be NULL */
    const struct weir_output *outputs; /* may be NULL */
    uint32_t settings_size;
    uint32_t state_size;
    uint32_t flags;   /* enum weir_behaviour_flags */
    uint32_t in_hand; /* unsettled messages at a time; 0 = 1 */

    /* Rules across options. Pure: no I/O, no threads. Reports through weir_report_error. */
    void (*check)(const void *settings, struct weir_report *report);
    /* First turn. 0, or a negative status: tried again later, or the reload is given up. */
    int (*open)(struct weir_self *self, const void *settings, void *state);
    /* Each message. Borrows it; returns a verdict. */
    int (*handle)(struct weir_self *self, void *state, const struct weir_message *message);
    /* A source is asked for up to `credit` messages, which it emits. Returns a weir_produced. */
    int (*produce)(struct weir_self *self, void *state, uint32_t credit);
    /* Every changed option is `live`: here they are. Cannot refuse. */
    void (*reconfigure)(struct weir_self *self, void *state, const void *settings);
    /* Last turn, once, after a successful open; `reason` is a weir_end_reason. May still emit. */
    void (*close)(struct weir_self *self, void *state, int reason);

    /* Since 1.1. A message that this incarnation is the origin of has ended: once for each. */
    void (*settled)(struct weir_self *self, void *state, const struct weir_outcome *outcome);
    /* Since 1.1. A source goes on where another one in its place has ended: what that one left by
     * weir_leave_position. Once, after `open`, before the first `produce`; it may be of other
     * settings, or of another version: what cannot be used is passed over. Borrows. NULL, or
     * nothing was left: it begins where its settings say. */
    void (*resume)(struct weir_self *self, void *state, const void *position, size_t size);
    /* Since 1.1. An event that this incarnation owns has subscribers now, or, 0, no more. */
    void (*audience)(struct weir_self *self, void *state, uint64_t event, uint32_t subscribers);
    /* Since 1.1. Somebody looks: add figures of your own by weir_inspect_add. A look changes
     * nothing, and is short; it may come between any two other callbacks. */
    void (*inspect)(struct weir_self *self, void *state, struct weir_inspection *out);
    /* Since 1.1. What this incarnation gave to weir_send_after was refused when it was due, and is
     * dead: once for each message. One with an origin is told by `settled` instead. */
    void (*undelivered)(struct weir_self *self, void *state, const struct weir_undelivered *what);
    /* Since 1.1. Files may have been renamed, as logrotate does: who writes one opens its path
     * again. Told by the signals USR1 and HUP, between two messages, also when the mailbox is
     * full. What cannot be opened stays as it is; log it. */
    void (*reopen)(struct weir_self *self, void *state);
};

/* The exported constant. `size` and `abi_minor` never move; the first 8 bytes decide. */
struct weir_plugin {
    uint32_t size;      /* sizeof(struct weir_plugin) where the plugin was built */
    uint32_t abi_minor; /* WEIR_ABI_MINOR there; the major is in the symbol's name */
    const char *name;
    const char *version;
    const struct weir_behaviour *behaviours; /* ends with a row of zeros */
    uint32_t behaviour_size;                 /* strides, so that a row may grow later */
    uint32_t option_size;
    uint32_t output_size;
    uint32_t reserved;

    /* Since 1.1. Not NULL: the behaviours, in place of the table; ends with NULL. */
    const struct weir_behaviour *const *behaviour_list;
    uint32_t flags; /* since 1.1: WEIR_UNLOADABLE */
    uint32_t reserved_more;
};

#define WEIR_PLUGIN_SYMBOL "weir_plugin_v1"

/*
 * Since 1.1. In `flags`: when a reload has replaced this version of the plugin, and the last of
 * its workers has ended, its code may be unmapped. So it leaves nothing behind that leads into
 * it: no thread, no key of thread-local data with a destructor, no signal handler, and it is
 * linked with no library that leaves such a thing. weir_kit_leaves_nothing tries that. Without
 * the flag every version stays in memory until the host ends.
 */
#define WEIR_UNLOADABLE (1u << 0)

/* Define it before this file is included: `#define WEIR_PLUGIN_FLAGS WEIR_UNLOADABLE`. */
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

/* WEIR_PLUGIN("name", "1.0.0", behaviours); stands once, at the end of the plugin. `behaviours` is
 * a table that ends with a row of zeros. */
#define WEIR_PLUGIN(plugin_name, plugin_version, plugin_behaviours)                                \
    WEIR_PLUGIN_CONSTANT(plugin_name, plugin_version, plugin_behaviours, NULL)

/*
 * In its place, for a plugin of several files, each with a behaviour of its own:
 * WEIR_PLUGIN_OF("name", "1.0.0", &split, &count); where a header declares each of them:
 * extern const struct weir_behaviour split, count;
 */
#define WEIR_PLUGIN_OF(plugin_name, plugin_version, ...)                                           \
    static const struct weir_behaviour *const weir_plugin_list[] = { __VA_ARGS__, NULL };          \
    WEIR_PLUGIN_CONSTANT(plugin_name, plugin_version, NULL, weir_plugin_list)

/* In `check`: names the option that is wrong (NULL = all of them) and why, as printf. */
WEIR_PRINTF(3, 4)
static inline void weir_report_error(struct weir_report *report, const char *option,
                                     const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report->error(report, option, text);
}

#endif
