/* SPDX-License-Identifier: MIT */
/*
 * weir/blob.h - a large payload that many messages share.
 *
 * Part of <weir/plugin.h>: include that. The ownership words of weir/host.h apply. The host makes a
 * blob, and the caller fills it. The blob is read-only as soon as a message with it has been sent.
 * A blob counts its holds; the release of the last hold frees it.
 */
#ifndef WEIR_BLOB_H
#define WEIR_BLOB_H

#include "host.h"

/* Made by the host: it may grow. */
struct weir_blob {
    void *data;  /* aligned to 64 */
    size_t size; /* bytes */
    /* For weir_blob_hold and weir_blob_release. */
    void (*hold)(struct weir_blob *);
    void (*release)(struct weir_blob *);
};

/*
 * A blob of `size` zero bytes, with one hold, which the caller owns. NULL: memory is out or
 * `host.memory` is reached. A blob counts once against `host.memory` until it is freed.
 */
WEIR_INLINE struct weir_blob *weir_blob_new(struct weir_self *self, size_t size)
{
    return self->host->blob_new(self, size);
}

/* Adds a hold. Any thread that owns a hold. */
WEIR_INLINE void weir_blob_hold(struct weir_blob *blob)
{
    blob->hold(blob);
}

/* Releases a hold. The release of the last hold frees the blob. Any thread, also the plugin's
 * own. */
WEIR_INLINE void weir_blob_release(struct weir_blob *blob)
{
    blob->release(blob);
}

/*
 * A new message whose payload is the blob. Returns owned. The message has a hold of its own, so the
 * caller keeps its hold. NULL: memory is out. Copies of the message, as those of an event, share
 * the blob.
 */
WEIR_INLINE struct weir_message *weir_message_with_blob(struct weir_self *self,
                                                        const struct weir_tag *tag,
                                                        struct weir_blob *blob)
{
    return self->host->message_with_blob(self, tag, blob);
}

/* The blob of a message, borrowed as long as the message. NULL: the message has no blob. Add a hold
 * to use the blob longer than the message, or to send it again. */
WEIR_INLINE struct weir_blob *weir_message_blob(struct weir_self *self,
                                                const struct weir_message *message)
{
    return self->host->message_blob(self, message);
}

#endif
