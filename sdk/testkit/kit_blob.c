/* SPDX-License-Identifier: MIT */
#include "kit_blob.h"

#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "kit_message.h"
#include "kit_tag.h"
#include "kit_turn.h"

static void hold(struct weir_blob *blob)
{
    ((struct kit_blob *)(void *)blob)->holds++;
}

static void release(struct weir_blob *blob)
{
    struct kit_blob *made = (struct kit_blob *)(void *)blob;

    if (made->holds == 0)
        kit_problem(made->kit, "a blob of %zu %s was released that is not held", blob->size,
                    plural(blob->size, "byte", "bytes"));
    else
        made->holds--;
}

static struct kit_blob *make(struct weir_kit *kit, size_t size)
{
    struct kit_blob *made;
    void *data;

    if (size > PTRDIFF_MAX || posix_memalign(&data, 64, size ? size : 1) != 0)
        return NULL;
    made = kit_take(sizeof *made);
    made->blob = (struct weir_blob){ .size = size, .hold = hold, .release = release };
    made->blob.data = data;
    memset(made->blob.data, 0, size);
    made->kit = kit;
    made->next = kit->blobs;
    kit->blobs = made;
    return made;
}

struct weir_blob *kit_blob_new(struct weir_self *self, size_t size)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_blob *made;

    if (kit_allocation_fails(kit))
        return NULL;
    made = make(kit, size);
    if (!made)
        return NULL;
    made->holds = 1;
    return &made->blob;
}

static void attach(struct kit_message *message, struct kit_blob *blob)
{
    message->blob = blob;
    message->message.data = blob->blob.data;
    message->message.size = blob->blob.size;
}

struct weir_message *kit_blob_message(struct weir_self *self, const struct weir_tag *tag,
                                      struct weir_blob *blob)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_message *message;

    if (kit_allocation_fails(kit))
        return NULL;
    message = kit_message_make(kit, KIT_PLUGIN, tag, 0);
    attach(message, (struct kit_blob *)(void *)blob);
    return &message->message;
}

struct weir_blob *kit_blob_find(struct weir_self *self, const struct weir_message *message)
{
    const struct kit_message *made = (const struct kit_message *)(const void *)message;

    (void)self;
    return made->blob ? &made->blob->blob : NULL;
}

int weir_kit_handle_blob(struct weir_kit *kit, const char *tag, const void *data, size_t size)
{
    struct kit_message *message;

    if (!kit || !kit_turn_can_run(kit, kit->behaviour.handle != NULL, "handle"))
        return WEIR_FAIL;
    message = kit_message_make(kit, KIT_IN_HAND, tag ? kit_tag_find(tag) : NULL, 0);
    attach(message, make(kit, size));
    if (size > 0)
        memcpy(message->message.data, data, size);
    return kit_turn_handle(kit, message);
}

void kit_blob_find_forgotten(struct weir_kit *kit)
{
    for (const struct kit_blob *blob = kit->blobs; blob; blob = blob->next)
        if (blob->holds > 0)
            kit_problem(kit, "a blob of %zu %s is held and was never released", blob->blob.size,
                        plural(blob->blob.size, "byte", "bytes"));
}

void kit_blob_finish(struct weir_kit *kit)
{
    for (struct kit_blob *blob = kit->blobs, *next; blob; blob = next) {
        next = blob->next;
        free(blob->blob.data);
        free(blob);
    }
}
