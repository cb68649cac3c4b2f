/* SPDX-License-Identifier: MIT */
/*
 * message/message.h - makes, copies and frees messages; queues of them.
 *
 * The layout of a message is in layout.h.
 */
#ifndef MESSAGE_MESSAGE_H
#define MESSAGE_MESSAGE_H

#include "message/layout.h"

struct blob;
struct memory;

/*
 * A new message with zeroed payload, owned by the caller; NULL when memory is out. `cache` is the
 * calling thread's.
 */
struct message *message_create(struct cache *cache, const struct weir_tag *tag, size_t size);

/* As message_create, with the payload of the blob; takes a reference of its own. */
struct message *message_create_with_blob(struct cache *cache, const struct weir_tag *tag,
                                         struct blob *blob);

/* The blob of a message; NULL: it has none. Borrowed. */
struct blob *message_blob(const struct message *message);

/*
 * A separate message with the same tag, key, sender, kind and payload, owned by the caller; NULL
 * when memory is out. It is no reply, and has no origin. It counts in the cap on memory when the
 * other one does, and may exceed it: a message for many receivers goes to all of them or to none,
 * and no event would wake a sender that waits for memory here.
 */
struct message *message_copy(struct cache *cache, const struct message *message);

/* As message_copy, with everything else but its place in a list: the copy takes over the requester,
 * the origin or the join. The original must not be settled, nor leave its join, afterwards. */
struct message *message_twin(struct cache *cache, const struct message *message);

/*
 * Replaces the payload by a text for people. Takes the message and returns it, or another one in
 * its place when its own memory has no room for the text. Without memory the text is truncated.
 * `cache` is the calling thread's.
 */
struct message *message_say(struct cache *cache, struct message *message, const char *text);

/*
 * As message_create, within the cap on memory; NULL also when the cap is reached. The size of the
 * block counts, so that a write to `size` cannot change the count.
 */
struct message *message_create_counted(struct cache *cache, const struct weir_tag *tag,
                                       size_t size);

/* At least what message_create_counted counts for this size, with a label of any length. */
size_t message_room_max(size_t size);

/* Bytes that a message with the label needs behind its payload. */
size_t message_label_room(const char *label);

/* Gives a label to a message whose payload is `room`, the message_label_room of the label, longer
 * than `size`; then the payload has `size` bytes. A label that is too long is cut. Borrows the
 * label. */
void message_set_label(struct message *message, size_t size, const char *label, size_t room);

/*
 * Bytes that message_set_identity needs beside those of the label. An identity is a number that
 * names the piece of work at each start of the program; 0 = none.
 */
#define MESSAGE_IDENTITY_ROOM (sizeof(uint64_t) + sizeof(unsigned char))

/* Gives an identity to a message with a label, or another one. False: it has no label of its own,
 * or no room. */
bool message_set_identity(struct message *message, uint64_t identity);

/* Its own identity, or else that of the join that it belongs to; 0 without one. */
uint64_t message_identity(const struct message *message);

/* Its own label, or else that of the join that it belongs to; "" without one. Lives as long as the
 * message. */
const char *message_label(const struct message *message);

/* Takes a message; `cache` is the calling thread's. NULL is allowed. */
void message_destroy(struct cache *cache, struct message *message);

/* Takes a message when there is no cache, or no runtime any more: frees it and returns its bytes to
 * the cap `memory`. */
void message_release(struct memory *memory, struct message *message);

/*
 * First in, first out; one owner. A ring with a pointer to its last element, so that an actor,
 * which has many queues that are nearly always empty, spends eight bytes on each.
 */
struct message_queue {
    struct message *last; /* its `next` is the first; NULL = empty */
};

void message_queue_append(struct message_queue *queue, struct message *message);
void message_queue_prepend(struct message_queue *queue, struct message *message);
/* Adds it behind `before`, which is in the queue. NULL: at the front. */
void message_queue_insert(struct message_queue *queue, struct message *before,
                          struct message *message);
/* Ownership moves to the caller; NULL when empty. */
struct message *message_queue_take(struct message_queue *queue);
/* Counts them one by one. */
uint32_t message_queue_count(const struct message_queue *queue);

static inline bool message_queue_is_empty(const struct message_queue *queue)
{
    return queue->last == NULL;
}

/* The first, which stays in it; NULL when empty. */
static inline struct message *message_queue_first(const struct message_queue *queue)
{
    /* Relaxed: see message.c. */
    return queue->last ? atomic_load_explicit(&queue->last->next, memory_order_relaxed) : NULL;
}

/* The one after a message of a queue; the first after the last. */
static inline struct message *message_queue_next(const struct message *message)
{
    /* Relaxed: see message.c. */
    return atomic_load_explicit(&message->next, memory_order_relaxed);
}

/* A queue with a count. */
struct message_list {
    struct message_queue queue;
    uint32_t count;
};

void message_list_append(struct message_list *list, struct message *message);
void message_list_prepend(struct message_list *list, struct message *message);
/* Removes a message; false: it is not in the list. Compares addresses only. */
bool message_list_remove(struct message_list *list, const struct message *message);
/* The message of that address; NULL: it is not in the list. Stays in it. */
struct message *message_list_find(const struct message_list *list, uint64_t address);
/* Ownership moves to the caller; NULL when empty. */
struct message *message_list_take(struct message_list *list);

#endif
