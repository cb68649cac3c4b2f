#include "actor/tie.h"

#include <stdio.h>
#include <stdlib.h>

#include "actor/extra.h"
#include "actor/send.h"

static struct message *make(struct actor *actor, enum message_kind kind, weir_pid from,
                            uint64_t reference)
{
    struct message *message = message_create(&actor->executor->cache, NULL,
                                             sizeof(struct weir_end));

    if (message) {
        message->public.kind = (uint8_t)kind;
        message->public.from = from;
        message->reference = reference;
    }
    return message;
}

/* Turns a tie into the news and sends it. Takes the tie. */
static void tell(struct runtime *runtime, struct executor *executor, struct message *tie,
                 const struct weir_end *end)
{
    weir_pid watcher = tie->public.from;

    tie->public.kind = tie->public.kind == MESSAGE_LINK ? WEIR_EXIT : WEIR_DOWN;
    tie->public.from = end->pid;
    *(struct weir_end *)tie->public.data = *end;
    if (send_control(runtime, executor, watcher, tie) != 0)
        message_destroy(&executor->cache, tie);
}

void tie_bounce(struct runtime *runtime, struct executor *executor, weir_pid ended,
                struct message *message)
{
    struct weir_end end = { .pid = ended, .status = WEIR_ETERMINATED };

    if (message->public.kind == MESSAGE_LINK || message->public.kind == MESSAGE_MONITOR)
        tell(runtime, executor, message, &end);
    else
        message_destroy(&executor->cache, message);
}

static void send_tie(struct actor *actor, weir_pid other, struct message *message)
{
    if (send_control(actor->runtime, actor->executor, other, message) != 0)
        tie_bounce(actor->runtime, actor->executor, other, message);
}

/* Takes the first tie of a kind, watcher and reference out of the list; NULL: there is none. */
static struct message *take_tie(struct message_queue *ties, uint8_t kind, weir_pid watcher,
                                uint64_t reference)
{
    struct message_queue rest = { 0 };
    struct message *found = NULL;
    struct message *tie;

    while ((tie = message_queue_take(ties))) {
        if (!found && tie->public.kind == kind && tie->public.from == watcher &&
            tie->reference == reference)
            found = tie;
        else
            message_queue_append(&rest, tie);
    }
    *ties = rest;
    return found;
}

int tie_link(struct actor *actor, weir_pid other)
{
    struct message *mine = make(actor, MESSAGE_LINK, other, 0);
    struct message *theirs = make(actor, MESSAGE_LINK, actor_pid(actor), 0);

    if (!mine || !theirs) {
        message_destroy(&actor->executor->cache, mine);
        message_destroy(&actor->executor->cache, theirs);
        return WEIR_ENOMEM;
    }
    message_queue_append(&actor->ties, mine);
    send_tie(actor, other, theirs);
    return 0;
}

int tie_link_child(struct actor *actor, struct actor *child)
{
    struct message *mine = make(actor, MESSAGE_LINK, actor_pid(child), 0);
    struct message *theirs = make(actor, MESSAGE_LINK, actor_pid(actor), 0);

    if (!mine || !theirs) {
        message_destroy(&actor->executor->cache, mine);
        message_destroy(&actor->executor->cache, theirs);
        return WEIR_ENOMEM;
    }
    message_queue_append(&actor->ties, mine);
    message_queue_append(&child->ties, theirs);
    return 0;
}

int tie_unlink(struct actor *actor, weir_pid other)
{
    struct message *message = make(actor, MESSAGE_UNLINK, actor_pid(actor), 0);

    if (!message)
        return WEIR_ENOMEM;
    message_destroy(&actor->executor->cache, take_tie(&actor->ties, MESSAGE_LINK, other, 0));
    send_tie(actor, other, message);
    return 0;
}

static struct watch *free_watch(struct extra *extra)
{
    struct watch *watches;
    uint32_t count;

    for (uint32_t i = 0; i < extra->watch_count; i++)
        if (!extra->watches[i].id)
            return &extra->watches[i];
    count = extra->watch_count ? extra->watch_count * 2 : 4;
    watches = realloc(extra->watches, count * sizeof *watches);
    if (!watches)
        return NULL;
    for (uint32_t i = extra->watch_count; i < count; i++)
        watches[i] = (struct watch){ 0 };
    extra->watches = watches;
    watches = &watches[extra->watch_count];
    extra->watch_count = count;
    return watches;
}

static struct watch *find_watch(struct actor *actor, uint64_t id)
{
    struct extra *extra = actor->extra;

    for (uint32_t i = 0; id && extra && i < extra->watch_count; i++)
        if (extra->watches[i].id == id)
            return &extra->watches[i];
    return NULL;
}

int tie_monitor(struct actor *actor, weir_pid other, uint64_t *out_monitor)
{
    struct extra *extra = extra_get(actor);
    struct watch *watch = extra ? free_watch(extra) : NULL;
    struct message *message;

    if (!watch)
        return WEIR_ENOMEM;
    message = make(actor, MESSAGE_MONITOR, actor_pid(actor), ++extra->next_watch);
    if (!message)
        return WEIR_ENOMEM;
    *watch = (struct watch){ .id = extra->next_watch, .subject = other };
    if (out_monitor)
        *out_monitor = watch->id;
    send_tie(actor, other, message);
    return 0;
}

/* Tells the subject that it need not tell. */
static void withdraw(struct actor *actor, struct watch *watch)
{
    struct message *message = make(actor, MESSAGE_DEMONITOR, actor_pid(actor), watch->id);

    /* Without memory the subject keeps the tie until it ends; its news will not count. */
    if (message)
        send_tie(actor, watch->subject, message);
    *watch = (struct watch){ 0 };
}

int tie_demonitor(struct actor *actor, uint64_t monitor)
{
    struct watch *watch = find_watch(actor, monitor);

    if (!watch)
        return WEIR_EUNKNOWN;
    withdraw(actor, watch);
    return 0;
}

void tie_arrived(struct actor *actor, struct message *message)
{
    bool asks = message->public.kind == MESSAGE_LINK || message->public.kind == MESSAGE_MONITOR;
    uint8_t kind = message->public.kind == MESSAGE_UNLINK ? MESSAGE_LINK : MESSAGE_MONITOR;

    if (asks) {
        message_queue_append(&actor->ties, message);
        return;
    }
    message_destroy(&actor->executor->cache,
                    take_tie(&actor->ties, kind, message->public.from, message->reference));
    message_destroy(&actor->executor->cache, message);
}

bool tie_is_current(struct actor *actor, const struct message *message)
{
    struct message *link;
    struct watch *watch;

    if (message->public.kind == WEIR_DOWN) {
        watch = find_watch(actor, message->reference);
        if (watch)
            *watch = (struct watch){ 0 };
        return watch != NULL;
    }
    link = take_tie(&actor->ties, MESSAGE_LINK, message->public.from, 0);
    message_destroy(&actor->executor->cache, link);
    return link != NULL;
}

static void tell_all(struct actor *actor, enum weir_end_reason reason, int status)
{
    struct weir_end end = { .pid = actor_pid(actor), .reason = (int32_t)reason, .status = status };
    struct message_queue ties = actor->ties;
    struct message *tie;

    actor->ties = (struct message_queue){ 0 };
    (void)snprintf(end.detail, sizeof end.detail, "%s", extra_detail(actor));
    while ((tie = message_queue_take(&ties)))
        tell(actor->runtime, actor->executor, tie, &end);
}

void tie_tell_all(struct actor *actor, enum weir_end_reason reason, int status)
{
    if (!message_queue_is_empty(&actor->ties))
        tell_all(actor, reason, status);
}

void tie_forget_watches(struct actor *actor)
{
    struct extra *extra = actor->extra;

    for (uint32_t i = 0; i < extra->watch_count; i++)
        if (extra->watches[i].id)
            withdraw(actor, &extra->watches[i]);
}
