/*
 * weir/spawn.h - actors of an actor's own.
 *
 * Part of <weir/plugin.h>: include that. The words of weir/host.h hold here too. A child runs one
 * behaviour of the same plugin, on the dispatcher of its parent. It has a PID and a mailbox, and is
 * not replaced: when it fails it ends, and so it does when its open fails. A monitor tells of that,
 * a link takes the parent along.
 *
 * A child lives no longer than the incarnation that made it. When that fails, is killed or stops,
 * its children are stopped now, and the next one opens when they have ended. When it drains, they
 * drain before it, while it is still open. What a child accepts counts as its parent's, in the
 * ledger of the pool and among its dead letters; and its outputs are its parent's: number i leads
 * where number i of the parent leads.
 */
#ifndef WEIR_SPAWN_H
#define WEIR_SPAWN_H

#include "host.h"

struct weir_behaviour;

/* Children, and theirs, that one worker or source may have at a time: about 100 MB of them. */
#define WEIR_CHILDREN_MAX 65536
/* How deep they may stand: children of children. */
#define WEIR_CHILDREN_DEPTH_MAX 16

enum weir_spawn_flags {
    WEIR_SPAWN_LINKED = 1u << 0, /* as if by weir_link, before its first turn */
};

/* Begin with WEIR_SPAWN_OPTIONS; each line says what 0 or NULL is. Append-only. */
struct weir_spawn_options {
    uint32_t size;           /* of this struct */
    uint32_t behaviour_size; /* of struct weir_behaviour */
    /* Copied; must have `handle`. Its options, outputs and `produce` are not used. */
    const struct weir_behaviour *behaviour;
    const void *settings; /* for `open`; its settings_size bytes are copied. NULL: zeroes */
    uint32_t limit;       /* of its mailbox; 0 = unlimited */
    uint32_t flags;       /* enum weir_spawn_flags */
};
#define WEIR_SPAWN_OPTIONS                                                                         \
    {                                                                                              \
        sizeof(struct weir_spawn_options), sizeof(struct weir_behaviour), NULL, NULL, 0, 0         \
    }

/*
 * Makes a child. It accepts messages at once, and opens in its first turn. Borrows the options.
 * WEIR_EFULL: there are WEIR_CHILDREN_MAX, or it would stand too deep; WEIR_EINVALID: no `handle`;
 * WEIR_ECLOSED: this incarnation is closing; WEIR_ENOMEM.
 */
static inline int weir_spawn(struct weir_self *self, const struct weir_spawn_options *options,
                             weir_pid *out_child)
{
    return self->host->spawn(self, options, out_child);
}

/*
 * Has a child of this incarnation drain: it accepts nothing new, finishes what it accepted, and
 * ends. Returns at once. WEIR_EUNKNOWN: no such child, or it has ended.
 */
static inline int weir_stop(struct weir_self *self, weir_pid child)
{
    return self->host->stop(self, child, false);
}

/*
 * Has a child end behind the message that it has in hand: what waits is dead as `terminated`, what
 * it keeps as `kept`. Its `close` is called. To end it as a failure is weir_exit with
 * WEIR_END_KILL. WEIR_EUNKNOWN as above.
 */
static inline int weir_stop_now(struct weir_self *self, weir_pid child)
{
    return self->host->stop(self, child, true);
}

/* The actor that made this one; 0: it is no child. */
static inline weir_pid weir_parent(struct weir_self *self)
{
    return self->host->parent(self);
}

#endif
