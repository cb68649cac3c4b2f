/* SPDX-License-Identifier: MIT */
#include "kit_port_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "kit_message.h"
#include "kit_tag.h"

#define TAG_TASK "weir.task"

struct kit_port_group {
    struct weir_port_group public; /* first */
    struct weir_port *port;        /* counted */
    uint64_t open;
    bool cancelled;
};

/* --- the worker of a pool of tasks ------------------------------------------------------------ */

static void reply(struct weir_self *self, const struct weir_message *request, int result)
{
    struct weir_message *message = weir_message_new(self, NULL, sizeof result);

    if (!message)
        return;
    memcpy(message->data, &result, sizeof result);
    if (weir_reply(self, request, message) != 0)
        weir_message_free(self, message);
}

/* False: the function has put the message back. */
static bool is_in_hand(const struct weir_message *message)
{
    const struct kit_message *in_hand = (const struct kit_message *)(const void *)message;

    return in_hand->owner == KIT_IN_HAND && !in_hand->stashed && !in_hand->forwarded;
}

int kit_task_run(struct weir_self *self, const struct weir_message *message)
{
    const struct weir_task_call *call = message->data;
    struct weir_task task = { .self = self, .message = message };
    int result;

    if (!message->tag || strcmp(message->tag->name, TAG_TASK) != 0 ||
        message->size != sizeof *call) {
        weir_reason(self, "it is no task");
        return WEIR_REJECT;
    }
    result = call->function(&task, call->argument);
    if (!is_in_hand(message))
        return WEIR_DONE;
    if (message->kind == WEIR_REQUEST)
        reply(self, message, result);
    return result == 0 ? WEIR_DONE : WEIR_REJECT;
}

/* --- requests, and waits ---------------------------------------------------------------------- */

int kit_port_send_wait(struct weir_port *port, weir_pid to, struct weir_message *message,
                       uint64_t timeout_ms)
{
    int status = weir_port_send(port, to, message);

    return status == WEIR_EFULL && timeout_ms != 0 ? WEIR_ETIMEOUT : status;
}

int kit_port_begin(struct weir_port *port, weir_pid to, struct weir_message *message,
                   bool waits_for_room, uint64_t timeout_ms, uint64_t *out_reference)
{
    struct weir_kit *kit = kit_port_kit(port);
    int status = waits_for_room ? kit_port_send_wait(port, to, message, timeout_ms)
                                : weir_port_send(port, to, message);

    if (status == 0)
        *out_reference = ++kit->last_number;
    return status;
}

static int answer(struct weir_port *port, struct weir_answer *out)
{
    if (out->size < sizeof *out)
        return WEIR_EINVALID;
    *out = (struct weir_answer)WEIR_ANSWER;
    return kit_port_kit(port) ? WEIR_ETIMEOUT : WEIR_ECLOSED;
}

int kit_port_await(struct weir_port *port, uint64_t reference, struct weir_answer *out)
{
    (void)reference;
    return answer(port, out);
}

int kit_port_await_any(struct weir_port *port, const uint64_t *references, uint32_t count,
                       uint64_t timeout_ms, uint32_t *out_index, struct weir_answer *out)
{
    (void)references;
    (void)timeout_ms;
    *out_index = count;
    return answer(port, out);
}

int kit_port_cancel(struct weir_port *port, uint64_t reference)
{
    (void)reference;
    return kit_port_kit(port) ? 0 : WEIR_ECLOSED;
}

int kit_port_wait_idle(struct weir_port *port, weir_pid pool, uint64_t timeout_ms)
{
    (void)pool;
    (void)timeout_ms;
    return kit_port_kit(port) ? 0 : WEIR_ECLOSED;
}

/* --- tasks ------------------------------------------------------------------------------------ */

static int submit_one(struct weir_port *port, weir_pid pool, const struct weir_task_call *call,
                      uint64_t timeout_ms)
{
    struct weir_kit *kit = kit_port_kit(port);
    struct weir_message *message;
    int status;

    if (!kit)
        return WEIR_ECLOSED;
    if (!call->function)
        return WEIR_EINVALID;
    message = weir_port_message_new(port, kit_tag_find(TAG_TASK), sizeof *call);
    if (!message)
        return WEIR_ENOMEM;
    memcpy(message->data, call, sizeof *call);
    status = kit_port_send_wait(port, pool, message, timeout_ms);
    if (status != 0)
        weir_port_message_free(port, message);
    return status;
}

int kit_port_submit(struct weir_port *port, weir_pid pool, const struct weir_task_call *calls,
                    uint32_t count, uint64_t timeout_ms, uint32_t *out_count)
{
    int status = 0;

    *out_count = 0;
    while (*out_count < count && status == 0) {
        status = submit_one(port, pool, &calls[*out_count], timeout_ms);
        *out_count += status == 0;
    }
    return status;
}

int kit_port_submit_request(struct weir_port *port, weir_pid pool,
                            const struct weir_task_call *call, uint64_t timeout_ms,
                            uint64_t *out_reference)
{
    int status = submit_one(port, pool, call, 0);

    (void)timeout_ms;
    if (status == 0)
        *out_reference = ++kit_port_kit(port)->last_number;
    return status;
}

int kit_port_submit_wait(struct weir_port *port, weir_pid pool, const struct weir_task_call *call,
                         uint64_t timeout_ms, int *out_result)
{
    int status = submit_one(port, pool, call, timeout_ms);

    (void)out_result;
    return status == 0 ? WEIR_ETIMEOUT : status;
}

/* --- groups ----------------------------------------------------------------------------------- */

static struct kit_port_group *group_of(struct weir_port_group *public)
{
    return (struct kit_port_group *)(void *)public;
}

int kit_port_group_create(struct weir_port *port, uint32_t flags,
                          struct weir_port_group **out_group)
{
    struct weir_kit *kit = kit_port_kit(port);
    struct kit_port_group *group;

    if (!kit)
        return WEIR_ECLOSED;
    if (flags & ~(uint32_t)WEIR_GROUP_FIRST_ERROR)
        return WEIR_EINVALID;
    if (kit_allocation_fails(kit))
        return WEIR_ENOMEM;
    group = kit_take(sizeof *group);
    *group = (struct kit_port_group){ .public = { port->calls }, .port = weir_port_ref(port) };
    *out_group = &group->public;
    return 0;
}

int kit_port_group_submit(struct weir_port_group *public, weir_pid pool,
                          const struct weir_task_call *calls, uint32_t count, uint64_t timeout_ms,
                          uint32_t *out_count)
{
    struct kit_port_group *group = group_of(public);
    int status;

    *out_count = 0;
    if (group->cancelled)
        return WEIR_ECANCELLED;
    status = kit_port_submit(group->port, pool, calls, count, timeout_ms, out_count);
    group->open += *out_count;
    return status;
}

int kit_port_group_send(struct weir_port_group *public, weir_pid to, struct weir_message *message,
                        uint64_t timeout_ms)
{
    struct kit_port_group *group = group_of(public);
    int status = group->cancelled ? WEIR_ECANCELLED
                                  : kit_port_send_wait(group->port, to, message, timeout_ms);

    group->open += status == 0;
    return status;
}

int kit_port_group_wait(struct weir_port_group *public, uint64_t timeout_ms,
                        struct weir_group_ended *out)
{
    const struct kit_port_group *group = group_of(public);

    (void)timeout_ms;
    if (!kit_port_kit(group->port))
        return WEIR_ECLOSED;
    if (out && out->size < sizeof *out)
        return WEIR_EINVALID;
    if (out)
        *out = (struct weir_group_ended){ .size = sizeof *out,
                                          .cancelled = group->cancelled ? group->open : 0,
                                          .open = group->cancelled ? 0 : group->open };
    return group->open && !group->cancelled ? WEIR_ETIMEOUT : 0;
}

void kit_port_group_cancel(struct weir_port_group *public)
{
    group_of(public)->cancelled = true;
}

void kit_port_group_destroy(struct weir_port_group *public)
{
    weir_port_unref(group_of(public)->port);
    free(group_of(public));
}
