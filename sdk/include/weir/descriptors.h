/* SPDX-License-Identifier: MIT */
/*
 * weir/descriptors.h - a share of the descriptors that the host may have open.
 *
 * Part of <weir/plugin.h>: include that. A plugin that opens many files, connections or processes
 * asks first, so that it leaves some to others. The host does not count descriptors: a plugin keeps
 * its word.
 */
#ifndef WEIR_DESCRIPTORS_H
#define WEIR_DESCRIPTORS_H

#include "host.h"

/* So many descriptors, of one pool or one source together, are always granted. Beyond that a part
 * of the host's descriptors is left to pools that have fewer. */
#define WEIR_DESCRIPTORS_FLOOR 16u

/*
 * Sets the share of this incarnation: the number of descriptors that it may have open from now on,
 * in place of its earlier share. It ends with the incarnation. A few descriptors (a file, a
 * connection) need no share. Since 1.1.
 *
 * WEIR_EFULL: the host has not so many, and the share is as before; ask again later, and meanwhile
 * do with what there is, or return WEIR_POSTPONE. A smaller share than before is never refused.
 * WEIR_ENOMEM: likewise.
 */
WEIR_INLINE int weir_set_descriptors(struct weir_self *self, uint32_t count)
{
    return self->host->set_descriptors(self, count);
}

#endif
