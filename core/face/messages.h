/* SPDX-License-Identifier: MIT */
/*
 * face/messages.h - messages of threads outside: sends, requests, inspections.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_MESSAGES_H
#define FACE_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/message.h>
#include <weir/port.h>

struct runtime;

/* WEIR_EUNKNOWN. In a read section. */
int runtime_lookup(struct runtime *runtime, const char *name, weir_pid *out_pid);

/* The tag of this name; lives as long as the runtime. NULL when memory is out. */
const struct weir_tag *runtime_tag(struct runtime *runtime, const char *name);

/* NULL when memory is out. Returns owned. */
struct weir_message *runtime_message_new(struct runtime *runtime, const struct weir_tag *tag,
                                         size_t size);
/* NULL is allowed. */
void runtime_message_free(struct runtime *runtime, struct weir_message *message);

/* As weir_send, without a sender. */
int runtime_send(struct runtime *runtime, weir_pid to, enum weir_lane lane,
                 struct weir_message *message);

/* Into the normal lane; waits up to `timeout_ms` of real time while there is no room. As weir_send;
 * WEIR_ETIMEOUT; WEIR_EDEADLK on a thread of a dispatcher. */
int runtime_send_wait(struct runtime *runtime, weir_pid to, struct weir_message *message,
                      uint64_t timeout_ms);

/* A request, or an inspection, from outside. */
struct request_options {
    weir_pid to;
    enum weir_lane lane; /* of a request */
    uint64_t timeout_ms;
    /* Called on the thread that gives the answer; must not call the runtime. May be NULL. */
    void (*on_answer)(void *context);
    void *on_answer_context;
};

/* Takes the message on 0; then one of runtime_await and runtime_cancel is due. As weir_send;
 * WEIR_ECLOSED: the runtime ends. */
int runtime_request(struct runtime *runtime, const struct request_options *options,
                    struct weir_message *message, uint64_t *out_reference);

/* Likewise, but in the normal lane, and waits for room first; the time-out is for both together.
 * Also WEIR_ETIMEOUT; WEIR_EDEADLK on a thread of a dispatcher. */
int runtime_request_wait(struct runtime *runtime, const struct request_options *options,
                         struct weir_message *message, uint64_t *out_reference);

/* Asks an actor for the values of its items: `items` ends with NULL; NULL: all. Likewise.
 * WEIR_EINVALID: too many. */
int runtime_inspect(struct runtime *runtime, const struct request_options *options,
                    const char *const *items, uint64_t *out_reference);

/* Waits for the answer until the time-out. Its status; WEIR_ETIMEOUT; WEIR_ECLOSED: the runtime has
 * ended; WEIR_EUNKNOWN: not open, or another thread waits for it. WEIR_EINVALID: out->size;
 * WEIR_EDEADLK on a thread of a dispatcher. */
int runtime_await(struct runtime *runtime, uint64_t reference, struct weir_answer *out);

/*
 * As runtime_await for the first of several references that has an answer or is over; only that
 * one is closed. WEIR_ETIMEOUT with `out_index` = `count`: none within `timeout_ms`.
 * WEIR_EUNKNOWN: none is open. WEIR_ENOMEM.
 */
int runtime_await_any(struct runtime *runtime, const uint64_t *references, uint32_t count,
                      uint64_t timeout_ms, uint32_t *out_index, struct weir_answer *out);

/* An inspection that waits for the answer as runtime_await does. */
int runtime_inspect_wait(struct runtime *runtime, const struct request_options *options,
                         const char *const *items, struct weir_answer *out);

/* Calls `call` once the request has its answer, or now if it has it; must not call the runtime.
 * WEIR_EUNKNOWN: not open. */
int runtime_on_answer(struct runtime *runtime, uint64_t reference, void (*call)(void *context),
                      void *context);

/* Whether runtime_await would return at once with an answer. */
bool runtime_is_answered(struct runtime *runtime, uint64_t reference);

/* Gives it up: it does not begin any more. WEIR_EUNKNOWN as above. */
int runtime_cancel(struct runtime *runtime, uint64_t reference);

#endif
