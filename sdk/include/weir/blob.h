/*
 * weir/blob.h - a large payload that many messages share.
 *
 * Part of <weir/plugin.h>: include that. The words of weir/host.h hold here too. The host makes a
 * blob, and the caller fills it. It is read-only from the moment a message with it is sent.
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
 * A blob of `size` zero bytes; the caller has one hold on it. NULL when memory is out or
 * `host.memory` is reached. A blob counts once against `host.memory` until it is freed.
 */
static inline struct weir_blob *weir_blob_new(struct weir_self *self, size_t size)
{
    return self->host->blob_new(self, size);
}

/* Adds a hold. Any thread that has one. */
static inline void weir_blob_hold(struct weir_blob *blob)
{
    blob->hold(blob);
}

/* Releases a hold; the last release frees the blob. Any thread, also the plugin's own. */
static inline void weir_blob_release(struct weir_blob *blob)
{
    blob->release(blob);
}

/*
 * A new message, owned by the caller, whose payload is the blob. The message has a hold of its own,
 * so the caller keeps its hold. NULL when memory is out. Copies of the message, as of an event,
 * share the blob.
 */
static inline struct weir_message *weir_message_with_blob(struct weir_self *self,
                                                          const struct weir_tag *tag,
                                                          struct weir_blob *blob)
{
    return self->host->message_with_blob(self, tag, blob);
}

/* The blob of a message, to hold it longer than the message or to send it again; NULL: the
 * message has none. Borrowed as long as the message is. */
static inline struct weir_blob *weir_message_blob(struct weir_self *self,
                                                  const struct weir_message *message)
{
    return self->host->message_blob(self, message);
}

#endif
