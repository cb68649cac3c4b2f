/*
 * weir/source.h - what a source may ask of its host, beside what any behaviour may: see host.h,
 * which includes this.
 */
#ifndef WEIR_SOURCE_H
#define WEIR_SOURCE_H

#include "host.h"

/* Bytes that a source may leave as its position: the names of a million files fit. */
#define WEIR_POSITION_MAX (64u * 1024u * 1024u)

/* Instead of a size: the source cannot tell how far it is, or, in `resume`, cannot go on there. */
#define WEIR_POSITION_LOST SIZE_MAX

/*
 * In a source, mostly in `close`: how far it is, in a form of its own; the last one counts. Who
 * produces next in its place - another incarnation, or a source with other args - is given it by
 * `resume`. Borrows. WEIR_ENOMEM; WEIR_EINVALID: too large, or WEIR_POSITION_LOST;
 * WEIR_ENOTALLOWED: no source. Since 1.1.
 *
 * A source whose position is lost, also by an error here, ends with an error instead of beginning
 * anew. One that says WEIR_POSITION_LOST in `resume` is given the same position again later.
 */
static inline int weir_leave_position(struct weir_self *self, const void *data, size_t size)
{
    return self->host->leave_position(self, data, size);
}

#endif
