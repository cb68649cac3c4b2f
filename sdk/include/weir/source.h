/* SPDX-License-Identifier: MIT */
/*
 * weir/source.h - calls that only a source may make.
 *
 * Part of <weir/plugin.h>: include that. The ownership words of weir/host.h apply.
 */
#ifndef WEIR_SOURCE_H
#define WEIR_SOURCE_H

#include "host.h"

/* The largest size of a position in bytes: enough for the names of a million files. */
#define WEIR_POSITION_MAX (64u * 1024u * 1024u)

/* Pass it instead of a size: the source does not know its position or, in `resume`, cannot use the
 * given one. */
#define WEIR_POSITION_LOST SIZE_MAX

/*
 * Stores the position of a source, in a format of its own, usually in `close`. The last call
 * counts. The next source in its place (another incarnation, or a source with other args) gets the
 * position by `resume`. Borrows the data. WEIR_EINVALID: the position is too large, or `size` is
 * WEIR_POSITION_LOST. WEIR_ENOTALLOWED: the actor is not a source. WEIR_ENOMEM. Since 1.1.
 *
 * If this call fails, or the source passes WEIR_POSITION_LOST, the position is lost: the source
 * ends with an error and does not begin again from the start. A source that passes
 * WEIR_POSITION_LOST in `resume` gets the same position again later.
 */
WEIR_INLINE int weir_leave_position(struct weir_self *self, const void *data, size_t size)
{
    return self->host->leave_position(self, data, size);
}

#endif
