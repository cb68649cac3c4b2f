/* SPDX-License-Identifier: MIT */
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
 */
#ifndef WEIR_PLUGIN_H
#define WEIR_PLUGIN_H

#include "host.h"

#define WEIR_ABI_MAJOR 1
#define WEIR_ABI_MINOR 0

/* What `handle` returns, and weir_settle takes. Any other number counts as WEIR_FAIL. */
enum weir_verdict {
    WEIR_DONE = 0,   /* handled */
    WEIR_RETRY = 1,  /* give it to me again after weir_retry_after; dead letter after `retries` */
    WEIR_REJECT = 2, /* it cannot be handled: dead letter, its requester is told */
    WEIR_KEEP = 3,   /* I keep it and call weir_settle later; at most `in_hand` at a time */
    WEIR_STOP = 4,   /* handled, and this incarnation ends normally; the place is opened anew */
    WEIR_FAIL = 5,   /* this incarnation is broken: it is replaced, its mailbox is kept */
};

/* What `produce` returns. A negative number is a failure: the source is opened anew. */
enum weir_produced {
    WEIR_MORE = 0, /* call me again when there is room */
    WEIR_WAIT = 1, /* nothing now: call me again after a timer of mine, or a message, came */
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
};

/* The exported constant. `size` and `abi_minor` never move. Append-only. */
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
};

#define WEIR_PLUGIN_SYMBOL "weir_plugin_v1"

#ifdef __cplusplus
#define WEIR_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define WEIR_EXPORT __attribute__((visibility("default")))
#endif

/* WEIR_PLUGIN("name", "1.0.0", behaviours); stands once, at the end of the plugin. */
#define WEIR_PLUGIN(plugin_name, plugin_version, plugin_behaviours)                                \
    WEIR_EXPORT const struct weir_plugin weir_plugin_v1;                                           \
    WEIR_EXPORT const struct weir_plugin weir_plugin_v1 = {                                        \
        sizeof(struct weir_plugin),                                                                \
        WEIR_ABI_MINOR,                                                                            \
        plugin_name,                                                                               \
        plugin_version,                                                                            \
        plugin_behaviours,                                                                         \
        sizeof(struct weir_behaviour),                                                             \
        sizeof(struct weir_option),                                                                \
        sizeof(struct weir_output),                                                                \
        0,                                                                                         \
    }

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
