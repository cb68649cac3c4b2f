/* SPDX-License-Identifier: MIT */
#include "kit_port.h"

#include <stdlib.h>
#include <string.h>

#include "kit_message.h"
#include "kit_port_leases.h"
#include "kit_port_tasks.h"

static struct kit_port *port_of(struct weir_port *port)
{
    return (struct kit_port *)(void *)port;
}

static void free_unless_used(struct kit_port *port)
{
    if (port->references == 0 && !port->has_kit)
        free(port);
}

static void ref(struct weir_port *port)
{
    port_of(port)->references++;
}

static void unref(struct weir_port *port)
{
    port_of(port)->references--;
    free_unless_used(port_of(port));
}

static struct weir_message *new_message(struct weir_port *port, const struct weir_tag *tag,
                                        size_t size)
{
    struct weir_kit *kit = port_of(port)->kit;

    return kit ? kit->self.host->message_new(&kit->self, tag, size) : NULL;
}

/* Does nothing: the kit frees messages, and a message that outlives it is forgotten here. */
static void free_message(struct weir_port *port, struct weir_message *message)
{
    struct weir_kit *kit = port_of(port)->kit;

    if (kit)
        kit->self.host->message_free(&kit->self, message);
}

static int send(struct weir_port *port, weir_pid to, enum weir_lane lane,
                struct weir_message *message)
{
    struct weir_kit *kit = port_of(port)->kit;

    if (!kit)
        return WEIR_ECLOSED;
    return kit->self.host->send(&kit->self, to ? to : kit->self.host->pid(&kit->self), lane,
                                message);
}

/* Nobody can answer here: the request counts as sent, and times out at once. */
static int request(struct weir_port *port, weir_pid to, enum weir_lane lane,
                   struct weir_message *message, uint64_t timeout_ms, struct weir_answer *out)
{
    uint32_t size = out->size;
    int status = size < sizeof *out ? WEIR_EINVALID : send(port, to, lane, message);

    (void)timeout_ms;
    if (status != 0)
        free_message(port, message);
    memset(out, 0, size < sizeof *out ? size : sizeof *out);
    out->size = size;
    return status == 0 ? WEIR_ETIMEOUT : status;
}

static int reply(struct weir_port *port, const struct weir_message *kept,
                 struct weir_message *message)
{
    struct weir_kit *kit = port_of(port)->kit;

    if (!kit)
        return WEIR_ECLOSED;
    return kit->self.host->reply(&kit->self, (struct weir_message *)(uintptr_t)kept, message);
}

static int settle(struct weir_port *port, const struct weir_message *kept, int verdict,
                  uint64_t retry_after_ms, const char *reason)
{
    struct weir_kit *kit = port_of(port)->kit;

    if (!kit_message_is_settling(verdict))
        return WEIR_EINVALID;
    if (!kit)
        return WEIR_ECLOSED;
    kit->self.host->retry_after(&kit->self, retry_after_ms);
    kit->self.host->reason(&kit->self, reason ? reason : "");
    /* A wrong message shows in a later turn of a real host; the kit records a problem at once. */
    (void)kit->self.host->settle(&kit->self, (struct weir_message *)(uintptr_t)kept, verdict);
    return 0;
}

static int look_up(struct weir_port *port, const char *name, weir_pid *out_pid)
{
    struct weir_kit *kit = port_of(port)->kit;

    return kit ? kit->self.host->lookup(&kit->self, name, out_pid) : WEIR_ECLOSED;
}

static const struct weir_port_calls calls = {
    .size = sizeof calls,
    .ref = ref,
    .unref = unref,
    .message_new = new_message,
    .message_free = free_message,
    .send = send,
    .request = request,
    .reply = reply,
    .settle = settle,
    .send_wait = kit_port_send_wait,
    .begin = kit_port_begin,
    .await = kit_port_await,
    .await_any = kit_port_await_any,
    .cancel = kit_port_cancel,
    .wait_idle = kit_port_wait_idle,
    .submit = kit_port_submit,
    .submit_request = kit_port_submit_request,
    .submit_wait = kit_port_submit_wait,
    .group_create = kit_port_group_create,
    .group_submit = kit_port_group_submit,
    .group_send = kit_port_group_send,
    .group_wait = kit_port_group_wait,
    .group_cancel = kit_port_group_cancel,
    .group_destroy = kit_port_group_destroy,
    .lookup = look_up,
    .take = kit_port_take,
    .take_begin = kit_port_take_begin,
    .lease_send = kit_port_lease_send,
    .lease_begin = kit_port_lease_begin,
    .lease_return = kit_port_lease_return,
    .lease_renew = kit_port_lease_renew,
};

struct weir_port *kit_port_get(struct weir_self *self)
{
    struct weir_kit *kit = kit_of(self);

    if (kit_allocation_fails(kit))
        return NULL;
    if (!kit->ports || !kit->ports->kit) {
        struct kit_port *port = kit_take(sizeof *port);

        *port = (struct kit_port){
            .port = { &calls }, .kit = kit, .has_kit = true, .next = kit->ports
        };
        kit->ports = port;
    }
    kit->ports->references++;
    return &kit->ports->port;
}

void kit_port_close(struct weir_kit *kit)
{
    for (struct kit_port *port = kit->ports; port; port = port->next)
        port->kit = NULL;
}

void kit_port_find_forgotten(struct weir_kit *kit)
{
    while (kit->ports) {
        struct kit_port *port = kit->ports;

        kit->ports = port->next;
        port->has_kit = false;
        if (port->references > 0)
            kit_problem(kit, "a port was not given back: weir_port_unref");
        free_unless_used(port);
    }
}
