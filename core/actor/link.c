/* SPDX-License-Identifier: MIT */
#include "actor/link.h"

#include <stdio.h>
#include <stdlib.h>

#include "actor/actor_ext.h"
#include "actor/place.h"
#include "actor/send.h"

/* The payload of a link or monitor: the notice that it becomes, and its entry in the table of its
 * subject. */
struct link {
    struct weir_end end;
    struct table_node node;
    struct message *message;
};

/* In `output` of a MONITOR: the incarnation that it is for, plus 1. */
#define ANY_LIFE 0

static struct link *link_of(struct message *message)
{
    return message->public.data;
}

static struct message *make(struct actor *actor, enum message_kind kind, weir_pid from,
                            uint64_t reference)
{
    struct message *message = message_create(&actor->executor->cache, NULL, sizeof(struct link));

    if (message) {
        message->public.kind = (uint8_t)kind;
        message->public.from = from;
        message->reference = reference;
        message->output = ANY_LIFE;
        *link_of(message) = (struct link){ .message = message };
    }
    return message;
}

/* Turns a link or monitor into the notice and sends it. Takes it. */
static void notify(struct runtime *runtime, struct executor *executor, struct message *notice,
                   const struct weir_end *end)
{
    weir_pid watcher = notice->public.from;

    notice->public.kind = notice->public.kind == MESSAGE_LINK ? WEIR_EXIT : WEIR_DOWN;
    notice->public.from = end->pid;
    link_of(notice)->end = *end;
    notice->public.size = sizeof *end;
    if (send_control(runtime, executor, watcher, notice) != 0)
        message_destroy(&executor->cache, notice);
}

void link_bounce(struct runtime *runtime, struct executor *executor, weir_pid ended,
                 struct message *message)
{
    struct weir_end end = { .pid = ended, .status = WEIR_ETERMINATED };

    if (message->public.kind == MESSAGE_LINK || message->public.kind == MESSAGE_MONITOR)
        notify(runtime, executor, message, &end);
    else
        message_destroy(&executor->cache, message);
}

static void send_link(struct actor *actor, weir_pid other, struct message *message)
{
    if (send_control(actor->runtime, actor->executor, other, message) != 0)
        link_bounce(actor->runtime, actor->executor, other, message);
}

static uint64_t hash_of(uint8_t kind, weir_pid watcher, uint64_t reference)
{
    return watcher * 31 + reference * 2 + kind;
}

/* True for the monitor of a lease, which its holder has: see lease_turn.c. */
static bool is_of_lease(const struct message *message)
{
    return message->public.kind == MESSAGE_MONITOR && message->output != ANY_LIFE;
}

static void add_link(struct actor *actor, struct message *message)
{
    if (is_of_lease(message))
        place_engage(actor->place, 1);
    table_add(&actor->links, &link_of(message)->node,
              hash_of(message->public.kind, message->public.from, message->reference));
}

/* Takes a link or monitor of a kind, watcher and reference out of the table; NULL: there is
 * none. */
static struct message *take_link(struct actor *actor, uint8_t kind, weir_pid watcher,
                                 uint64_t reference)
{
    struct table_node *node = table_first(&actor->links, hash_of(kind, watcher, reference));

    for (; node; node = table_next(node)) {
        struct message *message = TABLE_ENTRY(node, struct link, node)->message;

        if (message->public.kind != kind || message->public.from != watcher ||
            message->reference != reference)
            continue;
        table_remove(&actor->links, node);
        if (is_of_lease(message))
            place_engage(actor->place, -1);
        return message;
    }
    return NULL;
}

struct link_counting {
    uint8_t kind;
    uint32_t count;
};

static void count_one(struct table_node *node, void *context)
{
    struct link_counting *counting = context;

    counting->count += TABLE_ENTRY(node, struct link, node)->message->public.kind == counting->kind;
}

uint32_t link_count(const struct actor *actor, enum message_kind kind)
{
    struct link_counting counting = { .kind = (uint8_t)kind };

    table_each(&actor->links, count_one, &counting);
    return counting.count;
}

/* The next of the entries that were taken out of the table; NULL: no more. */
static struct message *next_taken(struct table_node **taken)
{
    struct table_node *node = *taken;

    if (!node)
        return NULL;
    *taken = node->next;
    return TABLE_ENTRY(node, struct link, node)->message;
}

void link_free_all(struct actor *actor, struct executor *executor)
{
    struct table_node *taken = table_take_all(&actor->links);
    struct message *notice;

    while ((notice = next_taken(&taken)))
        message_destroy(&executor->cache, notice);
}

/* Adds the actor's side. Returns the side of `other`; NULL: without memory neither is there. */
static struct message *add_own_side(struct actor *actor, weir_pid other)
{
    struct message *mine = make(actor, MESSAGE_LINK, other, 0);
    struct message *theirs = make(actor, MESSAGE_LINK, actor_pid(actor), 0);

    if (!mine || !theirs) {
        message_destroy(&actor->executor->cache, mine);
        message_destroy(&actor->executor->cache, theirs);
        return NULL;
    }
    add_link(actor, mine);
    return theirs;
}

int link_add(struct actor *actor, weir_pid other)
{
    struct message *theirs = add_own_side(actor, other);

    if (!theirs)
        return WEIR_ENOMEM;
    send_link(actor, other, theirs);
    return 0;
}

int link_add_child(struct actor *actor, struct actor *child)
{
    struct message *theirs = add_own_side(actor, actor_pid(child));

    if (!theirs)
        return WEIR_ENOMEM;
    add_link(child, theirs);
    return 0;
}

int link_remove(struct actor *actor, weir_pid other)
{
    struct message *message = make(actor, MESSAGE_UNLINK, actor_pid(actor), 0);

    if (!message)
        return WEIR_ENOMEM;
    message_destroy(&actor->executor->cache, take_link(actor, MESSAGE_LINK, other, 0));
    send_link(actor, other, message);
    return 0;
}

static struct monitor *find_monitor(struct actor *actor, uint64_t id)
{
    struct table_node *node = actor->ext ? table_first(&actor->ext->monitors, id) : NULL;

    return node ? TABLE_ENTRY(node, struct monitor, node) : NULL;
}

static void drop_monitor(struct actor *actor, struct monitor *monitor)
{
    table_remove(&actor->ext->monitors, &monitor->node);
    free(monitor);
}

/* `life` plus 1, or ANY_LIFE. */
static int begin_monitor(struct actor *actor, weir_pid other, uint32_t life, uint64_t *out_monitor)
{
    struct actor_ext *ext = actor_ext_get(actor);
    struct monitor *monitor = ext ? calloc(1, sizeof *monitor) : NULL;
    struct message *message;

    if (!monitor)
        return WEIR_ENOMEM;
    message = make(actor, MESSAGE_MONITOR, actor_pid(actor), ext->next_monitor + 1);
    if (!message) {
        free(monitor);
        return WEIR_ENOMEM;
    }
    message->output = life;
    monitor->subject = other;
    table_add(&ext->monitors, &monitor->node, ++ext->next_monitor);
    if (out_monitor)
        *out_monitor = ext->next_monitor;
    send_link(actor, other, message);
    return 0;
}

int link_monitor(struct actor *actor, weir_pid other, uint64_t *out_monitor)
{
    return begin_monitor(actor, other, ANY_LIFE, out_monitor);
}

int link_monitor_life(struct actor *actor, weir_pid other, uint32_t life, uint64_t *out_monitor)
{
    return begin_monitor(actor, other, life + 1, out_monitor);
}

/* Withdraws the monitor from its subject. */
static void withdraw(struct actor *actor, struct monitor *monitor)
{
    struct message *message = make(actor, MESSAGE_DEMONITOR, actor_pid(actor), monitor->node.hash);

    /* Without memory the subject keeps the entry until it ends; its notice will be ignored. */
    if (message)
        send_link(actor, monitor->subject, message);
    drop_monitor(actor, monitor);
}

int link_demonitor(struct actor *actor, uint64_t number)
{
    struct monitor *monitor = find_monitor(actor, number);

    if (!monitor)
        return WEIR_EUNKNOWN;
    withdraw(actor, monitor);
    return 0;
}

/* True for a monitor of an earlier incarnation. */
static bool is_late(const struct actor *actor, const struct message *message)
{
    uint32_t life = actor->ext ? actor->ext->life : 0;

    return is_of_lease(message) && message->output != life + 1;
}

void link_arrived(struct actor *actor, struct message *message)
{
    bool asks = message->public.kind == MESSAGE_LINK || message->public.kind == MESSAGE_MONITOR;
    uint8_t kind = message->public.kind == MESSAGE_UNLINK ? MESSAGE_LINK : MESSAGE_MONITOR;

    if (is_late(actor, message)) {
        link_bounce(actor->runtime, actor->executor, actor_pid(actor), message);
        return;
    }
    if (asks) {
        add_link(actor, message);
        return;
    }
    message_destroy(&actor->executor->cache,
                    take_link(actor, kind, message->public.from, message->reference));
    message_destroy(&actor->executor->cache, message);
}

bool link_is_current(struct actor *actor, const struct message *message)
{
    struct message *link;
    struct monitor *monitor;

    if (message->public.kind == WEIR_DOWN) {
        monitor = find_monitor(actor, message->reference);
        if (monitor)
            drop_monitor(actor, monitor);
        return monitor != NULL;
    }
    link = take_link(actor, MESSAGE_LINK, message->public.from, 0);
    message_destroy(&actor->executor->cache, link);
    return link != NULL;
}

static void notify_all(struct actor *actor, enum weir_end_reason reason, int status)
{
    struct weir_end end = { .pid = actor_pid(actor), .reason = (int32_t)reason, .status = status };
    struct table_node *taken = table_take_all(&actor->links);
    struct message *notice;

    (void)snprintf(end.detail, sizeof end.detail, "%s", actor_ext_detail(actor));
    while ((notice = next_taken(&taken))) {
        if (is_of_lease(notice))
            place_engage(actor->place, -1);
        notify(actor->runtime, actor->executor, notice, &end);
    }
}

void link_notify_all(struct actor *actor, enum weir_end_reason reason, int status)
{
    if (!table_is_empty(&actor->links))
        notify_all(actor, reason, status);
}

void link_withdraw_monitors(struct actor *actor)
{
    struct table_node *taken = table_take_all(&actor->ext->monitors);

    while (taken) {
        struct monitor *monitor = TABLE_ENTRY(taken, struct monitor, node);

        taken = taken->next;
        withdraw(actor, monitor);
    }
}
