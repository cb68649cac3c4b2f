/* SPDX-License-Identifier: MIT */
/*
 * weir/spawn.h - children: actors that an actor makes.
 *
 * Part of <weir/plugin.h>: include that. The ownership words of weir/host.h apply. A child runs one
 * behaviour of the same plugin, on the dispatcher of its parent, with a PID and a mailbox of its
 * own. The host does not replace a child: a child that fails, or whose `open` fails, ends. A
 * monitor reports the end to the parent; a link makes the parent end too.
 *
 * A child ends no later than the incarnation that made it. When the parent fails, is killed or
 * stops, its children are stopped at once, and the next incarnation opens after they have ended.
 * When the parent drains, its children drain first, while the parent is still open. Messages that a
 * child accepts count in the ledger and the dead letters of the parent's pool. Output i of a child
 * has the target of output i of the parent.
 */
#ifndef WEIR_SPAWN_H
#define WEIR_SPAWN_H

#include "choices.h"
#include "host.h"

struct weir_behaviour;

/* The largest number of children, including children of children, of one worker or source at a
 * time: about 100 MB. */
#define WEIR_CHILDREN_MAX 65536
/* The largest number of levels of children of children. */
#define WEIR_CHILDREN_DEPTH_MAX 16

enum weir_spawn_flags {
    WEIR_SPAWN_LINKED = 1u << 0, /* linked to the parent, as by weir_link, before the child's first
                                  * turn */
};

/* Begin with WEIR_SPAWN_OPTIONS. Append-only. */
struct weir_spawn_options {
    uint32_t size;           /* of this struct */
    uint32_t behaviour_size; /* of struct weir_behaviour */
    /* The behaviour of the child. Copied. It needs `handle`; its options, outputs and `produce` are
     * not used. */
    const struct weir_behaviour *behaviour;
    const void *settings; /* for `open`; the behaviour's settings_size bytes are copied. NULL =
                           * zeros */
    uint32_t limit;       /* of the child's mailbox; 0 or WEIR_UNLIMITED = no limit; or
                           * WEIR_UNBUFFERED */
    uint32_t flags;       /* enum weir_spawn_flags */
};
#define WEIR_SPAWN_OPTIONS                                                                         \
    {                                                                                              \
        sizeof(struct weir_spawn_options), sizeof(struct weir_behaviour), NULL, NULL, 0, 0         \
    }

/*
 * Makes a child. The child accepts messages at once and opens in its first turn. Borrows the
 * options. WEIR_EFULL: there are WEIR_CHILDREN_MAX children, or the child would be nested too deep.
 * WEIR_EINVALID: the behaviour has no `handle`, or a size is wrong. WEIR_ECLOSED: this incarnation
 * is closing. WEIR_ENOMEM.
 */
WEIR_INLINE int weir_spawn(struct weir_self *self, const struct weir_spawn_options *options,
                           weir_pid *out_child)
{
    return self->host->spawn(self, options, out_child);
}

/*
 * Makes a child of this incarnation drain: the child accepts no new messages, finishes the accepted
 * ones, and ends. Returns at once. WEIR_EUNKNOWN: no such child, or it has ended.
 */
WEIR_INLINE int weir_stop(struct weir_self *self, weir_pid child)
{
    return self->host->stop(self, child, false);
}

/*
 * Makes a child of this incarnation end after the message in hand. Waiting messages become dead
 * letters with the reason `terminated`, and kept messages with the reason `kept`. The host calls
 * the child's `close`. To end a child as a failure, use weir_exit with WEIR_END_KILL.
 * WEIR_EUNKNOWN: no such child, or it has ended.
 */
WEIR_INLINE int weir_stop_now(struct weir_self *self, weir_pid child)
{
    return self->host->stop(self, child, true);
}

/* The PID of the parent; 0: this actor is not a child. */
WEIR_INLINE weir_pid weir_parent(struct weir_self *self)
{
    return self->host->parent(self);
}

#endif
