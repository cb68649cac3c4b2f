/*
 * weir/source.h - calls for sources only. weir/host.h includes this file.
 */
#ifndef WEIR_SOURCE_H
#define WEIR_SOURCE_H

#include "host.h"

/* The most bytes that a position may have: enough for the names of a million files. */
#define WEIR_POSITION_MAX (64u * 1024u * 1024u)

/* Instead of a size: the source does not know its position, or, in `resume`, cannot use the
 * given one. */
#define WEIR_POSITION_LOST SIZE_MAX

/*
 * For a source, usually in `close`: stores its position, in a format of its own; the last one
 * counts. The next source in its place (another incarnation, or a source with other args) gets it
 * by `resume`. Borrows. WEIR_ENOMEM; WEIR_EINVALID: too large, or WEIR_POSITION_LOST;
 * WEIR_ENOTALLOWED: no source. Since 1.1.
 *
 * A source whose position is lost, also by an error of this call, ends with an error and does not
 * begin again from the start. A source that passes WEIR_POSITION_LOST in `resume` gets the same
 * position again later.
 */
static inline int weir_leave_position(struct weir_self *self, const void *data, size_t size)
{
    return self->host->leave_position(self, data, size);
}

#endif
