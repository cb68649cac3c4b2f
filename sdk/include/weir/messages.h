/* SPDX-License-Identifier: MIT */
/*
 * weir/messages.h - libweir: messages and requests of the program's own threads.
 *
 * Part of <weir/runtime.h>: include that. The rules of that header apply.
 */
#ifndef WEIR_MESSAGES_H
#define WEIR_MESSAGES_H

#include "choices.h"
#include "plugin.h"

#define WEIR_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* A runtime: dispatchers, actors, pools and names. */
struct weir_runtime;

/* The tag of a name (1 to 128 bytes). Equal names give the same tag, which lives as long as the
 * runtime. Borrows the name. NULL: the name is empty or too long, or memory is out. */
WEIR_API const struct weir_tag *weir_runtime_tag(struct weir_runtime *runtime, const char *name);

/* A new message with `size` bytes of zeroed payload. Returns owned. NULL: memory is out. */
WEIR_API struct weir_message *weir_runtime_message_new(struct weir_runtime *runtime,
                                                       const struct weir_tag *tag, size_t size);

/* Frees a message that was not sent, or an answer. Takes the message. NULL is allowed. */
WEIR_API void weir_runtime_message_free(struct weir_runtime *runtime, struct weir_message *message);

/*
 * Sends a message with `from` 0. Takes the message on 0. Never waits. WEIR_EFULL: no eligible
 * worker has room, or no worker is open yet. WEIR_EUNKNOWN, WEIR_ETERMINATED: no such actor, or it
 * has ended. WEIR_ECLOSED: the receiver drains. WEIR_EINVALID: the message has no key and the pool
 * routes by hash, or the payload is larger than `mailbox_bytes`. WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_send(struct weir_runtime *runtime, weir_pid to, enum weir_lane lane,
                               struct weir_message *message);

/*
 * As weir_runtime_send in the normal lane, but waits for room, in one queue with the workers whose
 * outputs have the same target. The wait also ends when the receiver closes (WEIR_ECLOSED) or has
 * ended (WEIR_ETERMINATED), and at the time-out (WEIR_ETIMEOUT). The caller keeps the message then.
 * WEIR_EDEADLK.
 */
WEIR_API int weir_runtime_send_wait(struct weir_runtime *runtime, weir_pid to,
                                    struct weir_message *message, uint64_t timeout_ms);

/*
 * Sends a request and returns at once. Takes the message on 0. After 0 the reference has exactly
 * one answer; weir_runtime_await fetches the answer, or weir_runtime_cancel cancels the request.
 * One of the two is due, also after the time-out: until then the reference takes some 140 bytes,
 * and its reply stays. A request that cannot be sent is refused at once, with a status of
 * weir_runtime_send.
 */
WEIR_API int weir_runtime_request(struct weir_runtime *runtime, weir_pid to, enum weir_lane lane,
                                  struct weir_message *message, uint64_t timeout_ms,
                                  uint64_t *out_reference);

/*
 * Waits for the answer to a request until the time-out of the request, and closes the reference.
 * Returns 0 with the reply in `out`, or the reason why there is no reply. WEIR_ETIMEOUT,
 * WEIR_ECANCELLED: no worker has begun the request, and none ever will. WEIR_ERUNNING: the time is
 * over, or another thread has cancelled the request, after a worker had begun it; it may go on.
 * WEIR_EREJECTED, WEIR_ECRASHED, WEIR_EREMOVED, WEIR_ETERMINATED, WEIR_ENOREPLY. A take is never
 * WEIR_ERUNNING. Initialise `out` with WEIR_ANSWER. The reference stays open after WEIR_EDEADLK and
 * WEIR_EINVALID (out->size is too small). WEIR_EUNKNOWN: no such reference, or another thread waits
 * for it.
 */
WEIR_API int weir_runtime_await(struct weir_runtime *runtime, uint64_t reference,
                                struct weir_answer *out);

/*
 * Calls `call` when a request has its answer; now, inside this function, if it has it already.
 * weir_runtime_await then returns without a wait. For an event loop: `call` runs once, on the
 * thread that answers; it must not block and must not call the library, and wakes the loop, such as
 * by an eventfd. It is not called when the time-out is over without an answer, nor after a cancel
 * or weir_runtime_destroy. A second `call` for a reference replaces the first. WEIR_EUNKNOWN: the
 * reference is not open.
 */
WEIR_API int weir_runtime_on_answer(struct weir_runtime *runtime, uint64_t reference,
                                    void (*call)(void *context), void *context);

/*
 * Cancels a request: the library drops its reply. A thread that waits for the answer returns with
 * WEIR_ECANCELLED or WEIR_ERUNNING. 0: no worker has begun the request, and none ever will; or it
 * has had its answer. WEIR_ERUNNING: a worker has begun it, and may go on. WEIR_EUNKNOWN: the
 * reference is not open.
 */
WEIR_API int weir_runtime_cancel(struct weir_runtime *runtime, uint64_t reference);

/*
 * Sends a request and waits for the answer. Always takes the message: a refused message is freed.
 * Returns the statuses of weir_runtime_request and weir_runtime_await. After WEIR_EDEADLK the
 * request is cancelled, but a worker may have begun it.
 */
WEIR_INLINE int weir_runtime_ask(struct weir_runtime *runtime, weir_pid to,
                                 struct weir_message *message, uint64_t timeout_ms,
                                 struct weir_answer *out)
{
    uint64_t reference;
    int status = weir_runtime_request(runtime, to, WEIR_NORMAL, message, timeout_ms, &reference);

    if (status != 0) {
        weir_runtime_message_free(runtime, message);
        return status;
    }
    status = weir_runtime_await(runtime, reference, out);
    if (status == WEIR_EDEADLK || status == WEIR_EINVALID)
        (void)weir_runtime_cancel(runtime, reference);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
