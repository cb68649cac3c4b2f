/*
 * weir/spawn.h - children: actors that an actor makes.
 *
 * Part of <weir/plugin.h>: include that. The words of weir/host.h hold here too. A child runs one
 * behaviour of the same plugin, on the dispatcher of its parent. It has a PID and a mailbox. It is
 * not replaced: it ends when it fails, or when its open fails. A monitor reports that; a link makes
 * the parent end too.
 *
 * A child lives no longer than the incarnation that made it. When the parent fails, is killed or
 * stops, its children are stopped at once, and the next incarnation opens when they have ended.
 * When the parent drains, its children drain first, while the parent is still open. Messages that a
 * child accepts count in the ledger and the dead letters of the parent's pool. Output i of a child
 * leads where output i of the parent leads.
 */
#ifndef WEIR_SPAWN_H
#define WEIR_SPAWN_H

#include "choices.h"
#include "host.h"

struct weir_behaviour;

/* The most children, with their own children, that a worker or source may have at a time: about
 * 100 MB. */
#define WEIR_CHILDREN_MAX 65536
/* The most levels of children of children. */
#define WEIR_CHILDREN_DEPTH_MAX 16

enum weir_spawn_flags {
    WEIR_SPAWN_LINKED = 1u << 0, /* linked to the parent, as by weir_link, before its first turn */
};

/* Begin with WEIR_SPAWN_OPTIONS. Append-only. */
struct weir_spawn_options {
    uint32_t size;           /* of this struct */
    uint32_t behaviour_size; /* of struct weir_behaviour */
    /* Copied; must have `handle`. Its options, outputs and `produce` are not used. */
    const struct weir_behaviour *behaviour;
    const void *settings; /* for `open`; its settings_size bytes are copied. NULL: zeroes */
    uint32_t limit;       /* of its mailbox; 0 or WEIR_UNLIMITED = no limit; or WEIR_UNBUFFERED */
    uint32_t flags;       /* enum weir_spawn_flags */
};
#define WEIR_SPAWN_OPTIONS                                                                         \
    {                                                                                              \
        sizeof(struct weir_spawn_options), sizeof(struct weir_behaviour), NULL, NULL, 0, 0         \
    }

/*
 * Makes a child. It accepts messages at once, and opens in its first turn. Borrows the options.
 * WEIR_EFULL: there are WEIR_CHILDREN_MAX children, or it would be nested too deep; WEIR_EINVALID:
 * no `handle`; WEIR_ECLOSED: this incarnation is closing; WEIR_ENOMEM.
 */
static inline int weir_spawn(struct weir_self *self, const struct weir_spawn_options *options,
                             weir_pid *out_child)
{
    return self->host->spawn(self, options, out_child);
}

/*
 * Makes a child of this incarnation drain: it accepts no new messages, finishes those that it has
 * accepted, and ends. Returns at once. WEIR_EUNKNOWN: no such child, or it has ended.
 */
static inline int weir_stop(struct weir_self *self, weir_pid child)
{
    return self->host->stop(self, child, false);
}

/*
 * Makes a child end after the message in hand: waiting messages become dead letters with the reason
 * `terminated`, kept ones with `kept`. Its `close` is called. To end it as a failure, use weir_exit
 * with WEIR_END_KILL. WEIR_EUNKNOWN: no such child, or it has ended.
 */
static inline int weir_stop_now(struct weir_self *self, weir_pid child)
{
    return self->host->stop(self, child, true);
}

/* The PID of the parent; 0: this actor is no child. */
static inline weir_pid weir_parent(struct weir_self *self)
{
    return self->host->parent(self);
}

#endif
