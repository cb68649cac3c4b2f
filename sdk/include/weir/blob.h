/*
 * weir/blob.h - a large payload that many messages share.
 *
 * Part of <weir/plugin.h>: include that. The words of weir/host.h hold here too. A blob is made by
 * the host, filled in by its maker, and read only from the moment a message with it was sent.
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
 * A blob of `size` zeros, with one hold that is the caller's; NULL when memory is out or
 * `host.memory` is reached, in which it counts once, until it is freed.
 */
static inline struct weir_blob *weir_blob_new(struct weir_self *self, size_t size)
{
    return self->host->blob_new(self, size);
}

/* One more hold. Any thread, that has one. */
static inline void weir_blob_hold(struct weir_blob *blob)
{
    blob->hold(blob);
}

/* Gives a hold back; the last one frees the blob. Any thread, also one of the plugin's own. */
static inline void weir_blob_release(struct weir_blob *blob)
{
    blob->release(blob);
}

/*
 * A new message, owned by the caller, whose payload is the blob, which it holds for itself: the
 * caller keeps its own hold. NULL when memory is out. Copies, as of an event, share the blob.
 */
static inline struct weir_message *weir_message_with_blob(struct weir_self *self,
                                                          const struct weir_tag *tag,
                                                          struct weir_blob *blob)
{
    return self->host->message_with_blob(self, tag, blob);
}

/* The blob of a message, to hold it longer than the message, or to send it on; NULL: it has none.
 * Borrowed as long as the message is. */
static inline struct weir_blob *weir_message_blob(struct weir_self *self,
                                                  const struct weir_message *message)
{
    return self->host->message_blob(self, message);
}

#endif
