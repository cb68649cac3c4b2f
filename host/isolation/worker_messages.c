/* SPDX-License-Identifier: MIT */
#include "host/isolation/worker_messages.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/isolation/dialogue.h"
#include "host/isolation/worker_ask.h"

#define TAG_MAX 128u /* bytes of a name, as <weir/host.h> says */

static struct worker *worker_of(struct weir_self *self)
{
    return (struct worker *)self;
}

static struct worker_message *message_of(const struct weir_message *message)
{
    return (struct worker_message *)(uintptr_t)message;
}

/* --- messages --------------------------------------------------------------------------------- */

static const struct weir_tag *find_tag(struct weir_self *self, const char *name)
{
    struct worker *worker = worker_of(self);
    size_t length = strlen(name);
    struct worker_tag *tag;
    char *copy;

    if (length == 0 || length > TAG_MAX)
        return NULL;
    for (tag = worker->tags; tag; tag = tag->next)
        if (strcmp(tag->tag.name, name) == 0)
            return &tag->tag;
    tag = calloc(1, sizeof *tag);
    copy = strdup(name);
    if (!tag || !copy) {
        free(tag);
        free(copy);
        return NULL;
    }
    *tag = (struct worker_tag){ .next = worker->tags, .tag = { copy } };
    worker->tags = tag;
    return &tag->tag;
}

static struct weir_message *message_labelled(struct weir_self *self, const struct weir_tag *tag,
                                             size_t size, const char *label)
{
    struct worker_message *message = calloc(1, sizeof *message);

    if (!message)
        return NULL;
    message->public = (struct weir_message){
        .size = size, .tag = tag, .from = worker_of(self)->pid, .kind = WEIR_MESSAGE, .attempt = 1
    };
    message->public.data = size ? calloc(1, size) : NULL;
    if (size && !message->public.data) {
        free(message);
        return NULL;
    }
    (void)snprintf(message->label, sizeof message->label, "%s", label ? label : "");
    return &message->public;
}

static int set_identity(struct weir_self *self, struct weir_message *message, const void *bytes,
                        size_t size)
{
    (void)self;
    (void)message;
    (void)bytes;
    (void)size;
    return WEIR_EUNSUPPORTED;
}

static struct weir_message *message_new(struct weir_self *self, const struct weir_tag *tag,
                                        size_t size)
{
    return message_labelled(self, tag, size, NULL);
}

static void message_free(struct weir_self *self, struct weir_message *message)
{
    (void)self;
    worker_free_message(message ? message_of(message) : NULL);
}

/* Packs a message that the plugin has made. False: its payload is too large. */
static bool pack(struct parcel *out, const struct weir_message *given)
{
    const struct worker_message *message = message_of(given);

    parcel_text(out, given->tag ? given->tag->name : "");
    parcel_number(out, given->key);
    parcel_text(out, message->label);
    parcel_number(out, message->is_detached);
    parcel_number(out, message->is_joined);
    parcel_number(out, message->joins);
    parcel_bytes(out, given->data, given->size);
    return given->size <= DIALOGUE_PAYLOAD_MAX;
}

/* Sends the message, with the arguments that were packed before it; the host has a copy on 0. */
int worker_give(struct weir_self *self, int call, struct weir_message *message, uint64_t *out)
{
    int status = message_of(message)->number ? WEIR_EINVALID : WEIR_OK;

    if (status == WEIR_OK && !pack(&worker_of(self)->out, message))
        status = WEIR_EINVALID;
    if (status == WEIR_OK)
        status = worker_ask_number(self, call, out);
    if (status == WEIR_OK)
        message_free(self, message);
    return status;
}

static int send_to(struct weir_self *self, weir_pid to, enum weir_lane lane,
                   struct weir_message *message)
{
    struct parcel *out = worker_begin(self);

    parcel_number(out, to);
    parcel_number(out, lane);
    return worker_give(self, DIALOGUE_SEND, message, NULL);
}

static int emit(struct weir_self *self, uint32_t output, struct weir_message *message)
{
    parcel_number(worker_begin(self), output);
    return worker_give(self, DIALOGUE_EMIT, message, NULL);
}

static int send_after(struct weir_self *self, weir_pid to, enum weir_lane lane,
                      struct weir_message *message, uint64_t delay_ms, uint64_t *out_timer)
{
    struct parcel *out = worker_begin(self);

    if (lane != WEIR_NORMAL)
        return WEIR_EUNSUPPORTED;
    parcel_number(out, to);
    parcel_number(out, delay_ms);
    return worker_give(self, DIALOGUE_SEND_AFTER, message, out_timer);
}

static int reply(struct weir_self *self, struct weir_message *request, struct weir_message *message)
{
    parcel_number(worker_begin(self), message_of(request)->number);
    return worker_give(self, DIALOGUE_REPLY, message, NULL);
}

/* A call after which the host has the message no more. */
static int part_with(struct weir_self *self, int call, struct weir_message *message)
{
    int status;

    parcel_number(&worker_of(self)->out, message_of(message)->number);
    status = worker_ask_status(self, call);
    if (status == WEIR_OK)
        message_of(message)->is_left = true;
    return status;
}

static int forward(struct weir_self *self, weir_pid to, enum weir_lane lane,
                   struct weir_message *message)
{
    struct parcel *out = worker_begin(self);

    parcel_number(out, to);
    parcel_number(out, lane);
    return part_with(self, DIALOGUE_FORWARD, message);
}

/* What these calls do with the order of messages, the host does before the next one. */
static int stash(struct weir_self *self, struct weir_message *message)
{
    worker_of(self)->stops = true;
    (void)worker_begin(self);
    return part_with(self, DIALOGUE_STASH, message);
}

static int put_back(struct weir_self *self, struct weir_message *message)
{
    worker_of(self)->stops = true;
    (void)worker_begin(self);
    return part_with(self, DIALOGUE_PUT_BACK, message);
}

/* The message was kept: `handle` has returned. */
static int settle(struct weir_self *self, struct weir_message *kept, int verdict)
{
    struct parcel *out = worker_begin(self);
    int status;

    if (dialogue_host_decides(verdict))
        worker_of(self)->stops = true;
    parcel_number(out, (uint64_t)(int64_t)verdict);
    parcel_number(out, message_of(kept)->number);
    status = worker_ask_status(self, DIALOGUE_SETTLE);
    if (status == WEIR_OK) {
        worker_part_gathered(worker_of(self), message_of(kept));
        message_free(self, kept);
    }
    return status;
}

static uint32_t unstash(struct weir_self *self, uint32_t count)
{
    uint64_t number = 0;

    worker_of(self)->stops = true;
    parcel_number(worker_begin(self), count);
    (void)worker_ask_number(self, DIALOGUE_UNSTASH, &number);
    return (uint32_t)number;
}

static uint64_t time_left(struct weir_self *self, const struct weir_message *message)
{
    uint64_t left = 0;

    parcel_number(worker_begin(self), message_of(message)->number);
    (void)worker_ask_number(self, DIALOGUE_TIME_LEFT, &left);
    return left;
}

static int join(struct weir_self *self, struct weir_message *given, struct weir_message *with)
{
    struct worker_message *message = message_of(given);

    (void)self;
    if (message->number || !message_of(with)->number)
        return WEIR_EINVALID;
    message->joins = message_of(with)->number;
    message->is_joined = true;
    return WEIR_OK;
}

static int detach(struct weir_self *self, struct weir_message *message)
{
    (void)self;
    message_of(message)->is_detached = true;
    return WEIR_OK;
}

/* --- blobs ------------------------------------------------------------------------------------ */

struct held_blob {
    struct weir_blob public; /* first */
    _Atomic uint32_t holds;
};

static void hold_blob(struct weir_blob *blob)
{
    /* Relaxed: the caller has a hold. */
    atomic_fetch_add_explicit(&((struct held_blob *)blob)->holds, 1, memory_order_relaxed);
}

static void release_blob(struct weir_blob *blob)
{
    struct held_blob *held = (struct held_blob *)blob;

    /* Each release pairs with the acquire of the last one: all uses come before. */
    if (atomic_fetch_sub_explicit(&held->holds, 1, memory_order_acq_rel) != 1)
        return;
    free(blob->data);
    free(held);
}

static struct weir_blob *blob_new(struct weir_self *self, size_t size)
{
    struct held_blob *blob = calloc(1, sizeof *blob);
    size_t room = (size + 64) & ~(size_t)63;

    (void)self;
    if (!blob)
        return NULL;
    blob->public = (struct weir_blob){ aligned_alloc(64, room), size, hold_blob, release_blob };
    if (!blob->public.data) {
        free(blob);
        return NULL;
    }
    memset(blob->public.data, 0, room);
    atomic_init(&blob->holds, 1);
    return &blob->public;
}

static struct weir_message *message_with_blob(struct weir_self *self, const struct weir_tag *tag,
                                              struct weir_blob *blob)
{
    struct weir_message *message = message_new(self, tag, 0);

    if (!message)
        return NULL;
    weir_blob_hold(blob);
    message->data = blob->size ? blob->data : NULL;
    message->size = blob->size;
    message_of(message)->blob = blob;
    return message;
}

static struct weir_blob *message_blob(struct weir_self *self, const struct weir_message *message)
{
    (void)self;
    return message_of(message)->blob;
}

/* --- from the host --------------------------------------------------------------------------- */

struct worker_message *worker_unpack_message(struct worker *worker, struct unparcel *from)
{
    struct worker_message *message = calloc(1, sizeof *message);
    const char *name;
    const void *bytes;
    size_t size;

    if (!message)
        return NULL;
    message->number = unparcel_number(from);
    name = unparcel_text(from);
    message->public.tag = name[0] ? weir_tag(&worker->self, name) : NULL;
    message->public.key = unparcel_number(from);
    message->public.from = unparcel_number(from);
    message->public.kind = (uint8_t)unparcel_number(from);
    message->public.lane = (uint8_t)unparcel_number(from);
    message->public.attempt = (uint16_t)unparcel_number(from);
    bytes = unparcel_bytes(from, &size);
    message->public.size = size;
    message->public.data = size ? malloc(size) : NULL;
    if (from->wrong || (size && !message->public.data)) {
        worker_free_message(message);
        return NULL;
    }
    if (size)
        memcpy(message->public.data, bytes, size);
    return message;
}

void worker_add_gathered(struct worker *worker, struct worker_message *message)
{
    message->is_gathered = true;
    message->before = worker->gathered;
    if (worker->gathered)
        worker->gathered->after = message;
    worker->gathered = message;
}

void worker_part_gathered(struct worker *worker, struct worker_message *message)
{
    if (!message->is_gathered)
        return;
    if (message->before)
        message->before->after = message->after;
    if (message->after)
        message->after->before = message->before;
    else
        worker->gathered = message->before;
    message->is_gathered = false;
}

void worker_free_message(struct worker_message *message)
{
    if (!message)
        return;
    if (message->blob)
        weir_blob_release(message->blob);
    else
        free(message->public.data);
    free(message);
}

void worker_fill_messages(struct weir_host *host)
{
    host->tag = find_tag;
    host->message_new = message_new;
    host->message_labelled = message_labelled;
    host->set_identity = set_identity;
    host->message_free = message_free;
    host->send = send_to;
    host->emit = emit;
    host->reply = reply;
    host->forward = forward;
    host->settle = settle;
    host->send_after = send_after;
    host->stash = stash;
    host->unstash = unstash;
    host->put_back = put_back;
    host->time_left = time_left;
    host->join = join;
    host->detach = detach;
    host->blob_new = blob_new;
    host->message_with_blob = message_with_blob;
    host->message_blob = message_blob;
}
