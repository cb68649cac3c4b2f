#include "kit_host.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kit_blob.h"
#include "kit_event.h"
#include "kit_log.h"
#include "kit_message.h"
#include "kit_origin.h"
#include "kit_port.h"
#include "kit_stash.h"
#include "kit_time.h"

#define PID_OF_WORKER ((weir_pid)0x100) /* of worker 0; any number but 0 would do */

/* --- messages --------------------------------------------------------------------------------- */

static const struct weir_tag *make_tag(struct weir_self *self, const char *name)
{
    struct weir_kit *kit = kit_of(self);

    return kit_allocation_fails(kit) ? NULL : kit_tag_find(kit, name);
}

static struct weir_message *make_message(struct weir_self *self, const struct weir_tag *tag,
                                         size_t size)
{
    struct weir_kit *kit = kit_of(self);

    if (kit_allocation_fails(kit))
        return NULL;
    return &kit_message_make(kit, KIT_PLUGIN, tag, size)->message;
}

static void free_message(struct weir_self *self, struct weir_message *message)
{
    if (message && kit_message_is_owned(kit_of(self), message, "freed"))
        kit_message_give((struct kit_message *)(void *)message, KIT_FREED);
}

/* --- sending ---------------------------------------------------------------------------------- */

void kit_host_note_sent(struct weir_kit *kit, const struct weir_kit_sent *sent)
{
    struct kit_sent *added = kit_take(sizeof *added);

    added->sent = *sent;
    *kit->sent_end = added;
    kit->sent_end = &added->next;
    kit->sent_count++;
    kit->emit_count += sent->way == WEIR_KIT_EMIT;
}

/* Whether a message that the plugin owns may leave now. */
static int may_leave(struct weir_kit *kit, const struct weir_message *message)
{
    if (!kit_message_is_owned(kit, message, "sent"))
        return WEIR_EINVALID;
    if (kit->room == 0)
        return kit->room_status;
    if (kit->room != UINT32_MAX)
        kit->room--;
    return 0;
}

static void leave(struct weir_kit *kit, struct weir_message *message, struct weir_kit_sent sent)
{
    sent.message = message;
    if (sent.way != WEIR_KIT_PUBLISH)
        sent.token = ((struct kit_message *)(void *)message)->token;
    message->lane = (uint8_t)sent.lane;
    message->from = PID_OF_WORKER + kit->index;
    kit_message_give((struct kit_message *)(void *)message, KIT_SENT);
    kit_host_note_sent(kit, &sent);
}

static int send_message(struct weir_self *self, weir_pid to, enum weir_lane lane,
                        struct weir_message *message)
{
    struct weir_kit *kit = kit_of(self);
    int status = may_leave(kit, message);

    if (status == 0)
        leave(kit, message, (struct weir_kit_sent){ .way = WEIR_KIT_SEND, .to = to, .lane = lane });
    return status;
}

static int send_chain(struct weir_self *self, weir_pid to, struct weir_message *const *messages,
                      uint32_t count)
{
    uint32_t taken = 0;
    int status = 0;

    while (taken < count && status == 0) {
        status = send_message(self, to, WEIR_NORMAL, messages[taken]);
        taken += status == 0;
    }
    return taken > 0 ? (int)taken : status;
}

static int publish(struct weir_self *self, uint64_t token, struct weir_message *message,
                   uint32_t *out_taken, uint32_t *out_refused)
{
    struct weir_kit *kit = kit_of(self);
    const struct kit_event *event = kit_event_find(kit, token);

    if (!event)
        return WEIR_EUNKNOWN;
    if (!kit_message_is_owned(kit, message, "published") || kit_origin_is_set(message))
        return WEIR_EINVALID;
    message->kind = WEIR_EVENT;
    leave(kit, message, (struct weir_kit_sent){ .way = WEIR_KIT_PUBLISH, .token = token });
    if (out_taken)
        *out_taken = event->subscribers;
    if (out_refused)
        *out_refused = 0;
    return 0;
}

static int lookup(struct weir_self *self, const char *name, weir_pid *out_pid)
{
    const struct kit_name *known = kit_of(self)->names;

    while (known && strcmp(known->name, name) != 0)
        known = known->next;
    if (!known)
        return WEIR_EUNKNOWN;
    *out_pid = known->pid;
    return 0;
}

static bool has_output(const struct weir_behaviour *behaviour, uint32_t output)
{
    uint32_t count = 0;

    while (behaviour->outputs && count <= output && behaviour->outputs[count].name)
        count++;
    return output < count;
}

static int emit(struct weir_self *self, uint32_t output, struct weir_message *message)
{
    struct weir_kit *kit = kit_of(self);
    int status;

    if (!has_output(&kit->behaviour, output)) {
        kit_problem(kit, "a message was emitted at output %" PRIu32 ", which is not declared",
                    output);
        return WEIR_EINVALID;
    }
    status = may_leave(kit, message);
    if (status == 0)
        leave(kit, message, (struct weir_kit_sent){ .way = WEIR_KIT_EMIT, .output = output });
    return status;
}

static int request(struct weir_self *self, weir_pid to, enum weir_lane lane,
                   struct weir_message *message, uint64_t timeout_ms, weir_then *then,
                   void *context, uint64_t *out_reference)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_due due = { .at_ms = kit->now_ms + timeout_ms, .then = then, .context = context };
    struct weir_kit_sent sent = { .way = WEIR_KIT_REQUEST, .to = to, .lane = lane };
    int status = then ? may_leave(kit, message) : WEIR_EINVALID;

    if (status == 0 && kit_origin_is_set(message))
        status = WEIR_EINVALID;
    if (status == 0 && kit_allocation_fails(kit))
        status = WEIR_ENOMEM;
    if (status != 0)
        return status;
    sent.reference = kit_time_add(kit, &due);
    message->kind = WEIR_REQUEST;
    leave(kit, message, sent);
    if (out_reference)
        *out_reference = sent.reference;
    return 0;
}

static int cancel(struct weir_self *self, uint64_t reference)
{
    return kit_time_cancel_request(kit_of(self), reference);
}

/* --- answering -------------------------------------------------------------------------------- */

static int reply(struct weir_self *self, struct weir_message *to, struct weir_message *message)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_message *asked = (struct kit_message *)(void *)to;

    if (!kit_message_is_owned(kit, message, "sent") || to->kind != WEIR_REQUEST ||
        kit_origin_is_set(message))
        return WEIR_EINVALID;
    if (asked->replied || (asked->owner != KIT_IN_HAND && asked->owner != KIT_KEPT))
        return WEIR_ENOTALLOWED;
    asked->replied = true;
    leave(kit, message, (struct weir_kit_sent){ .way = WEIR_KIT_REPLY, .to = to->from });
    return 0;
}

static int forward(struct weir_self *self, weir_pid to, enum weir_lane lane,
                   struct weir_message *message)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_message *in_hand = (struct kit_message *)(void *)message;
    const struct weir_kit_sent sent = {
        .way = WEIR_KIT_FORWARD, .to = to, .lane = lane, .message = message
    };

    if (in_hand->owner != KIT_IN_HAND || in_hand->forwarded) {
        kit_problem(kit, "a message was forwarded that is not in hand");
        return WEIR_EINVALID;
    }
    if (kit->room == 0)
        return kit->room_status;
    in_hand->forwarded = true;
    kit_host_note_sent(kit, &sent);
    return 0;
}

static int settle(struct weir_self *self, struct weir_message *kept, int verdict)
{
    return kit_message_settle_kept(kit_of(self), kept, verdict);
}

static void retry_after(struct weir_self *self, uint64_t delay_ms)
{
    kit_of(self)->retry_ms = delay_ms;
}

static void reason(struct weir_self *self, const char *text)
{
    struct weir_kit *kit = kit_of(self);

    (void)snprintf(kit->reason, sizeof kit->reason, "%s", text);
}

static uint64_t time_left(struct weir_self *self, const struct weir_message *message)
{
    return message->kind == WEIR_REQUEST ? kit_of(self)->time_left_ms : UINT64_MAX;
}

/* --- time ------------------------------------------------------------------------------------- */

static uint64_t now_ms(struct weir_self *self)
{
    return kit_of(self)->now_ms;
}

static int add_timer(struct weir_kit *kit, const struct kit_due *due, uint64_t *out_timer)
{
    uint64_t number = kit_time_add(kit, due);

    if (out_timer)
        *out_timer = number;
    return 0;
}

static int send_after(struct weir_self *self, weir_pid to, enum weir_lane lane,
                      struct weir_message *message, uint64_t delay_ms, uint64_t *out_timer)
{
    struct weir_kit *kit = kit_of(self);
    const struct kit_due due = {
        .at_ms = kit->now_ms + delay_ms, .message = message, .to = to, .lane = lane
    };

    if (!kit_message_is_owned(kit, message, "sent"))
        return WEIR_EINVALID;
    if (kit_allocation_fails(kit))
        return WEIR_ENOMEM;
    kit_message_give((struct kit_message *)(void *)message, KIT_SENT);
    return add_timer(kit, &due, out_timer);
}

static int after(struct weir_self *self, uint64_t delay_ms, weir_tick *tick, void *context,
                 uint64_t *out_timer)
{
    struct weir_kit *kit = kit_of(self);
    const struct kit_due due = { .at_ms = kit->now_ms + delay_ms,
                                 .tick = tick,
                                 .context = context };

    if (!tick)
        return WEIR_EINVALID;
    return kit_allocation_fails(kit) ? WEIR_ENOMEM : add_timer(kit, &due, out_timer);
}

static int every(struct weir_self *self, uint64_t period_ms, weir_tick *tick, void *context,
                 uint64_t *out_timer)
{
    struct weir_kit *kit = kit_of(self);
    const struct kit_due due = {
        .at_ms = kit->now_ms + period_ms, .every_ms = period_ms, .tick = tick, .context = context
    };

    if (!tick || period_ms == 0)
        return WEIR_EINVALID;
    return kit_allocation_fails(kit) ? WEIR_ENOMEM : add_timer(kit, &due, out_timer);
}

static int cancel_timer(struct weir_self *self, uint64_t timer)
{
    return kit_time_cancel_timer(kit_of(self), timer);
}

/* --- other actors: there are none, so nothing comes of it ------------------------------------- */

static int tie(struct weir_self *self, weir_pid other)
{
    (void)self;
    return other ? 0 : WEIR_EUNKNOWN;
}

static int monitor(struct weir_self *self, weir_pid other, uint64_t *out_monitor)
{
    if (!other)
        return WEIR_EUNKNOWN;
    if (out_monitor)
        *out_monitor = ++kit_of(self)->last_number;
    return 0;
}

static int demonitor(struct weir_self *self, uint64_t number)
{
    return number && number <= kit_of(self)->last_number ? 0 : WEIR_EUNKNOWN;
}

static int trap_exits(struct weir_self *self, bool on)
{
    (void)self;
    (void)on;
    return 0;
}

static int end_other(struct weir_self *self, weir_pid other, enum weir_end_reason why)
{
    (void)why;
    return tie(self, other);
}

static int register_name(struct weir_self *self, const char *name)
{
    weir_pid pid;

    return lookup(self, name, &pid) == 0 ? WEIR_EEXISTS : 0;
}

static int rename_self(struct weir_self *self, const char *from, const char *to)
{
    return from && to && from[0] && to[0] ? register_name(self, to) : WEIR_EINVALID;
}

/* --- about oneself, and the pool -------------------------------------------------------------- */

static weir_pid get_pid(struct weir_self *self)
{
    return PID_OF_WORKER + kit_of(self)->index;
}

static const char *get_path(struct weir_self *self)
{
    (void)self;
    return "test";
}

static uint32_t get_index(struct weir_self *self)
{
    return kit_of(self)->index;
}

static weir_pid get_pool(struct weir_self *self)
{
    return kit_of(self)->pool;
}

static int pool_resize(struct weir_self *self, weir_pid pool, uint32_t target,
                       struct weir_resized *out)
{
    struct weir_pool_stats *stats = &kit_of(self)->stats;
    uint32_t before = stats->target;

    if (!pool)
        return WEIR_EUNKNOWN;
    stats->target = target;
    stats->epoch += before != target;
    if (out)
        *out = (struct weir_resized){
            .changed = before < target ? target - before : before - target,
            .size = target,
            .epoch = stats->epoch,
        };
    return 0;
}

static int pool_add(struct weir_self *self, weir_pid pool, int32_t count, struct weir_resized *out)
{
    int64_t target = (int64_t)kit_of(self)->stats.target + count;

    if (target < 0 || target > UINT32_MAX)
        return WEIR_EINVALID;
    return pool_resize(self, pool, (uint32_t)target, out);
}

static int pool_stats(struct weir_self *self, weir_pid pool, struct weir_pool_stats *out)
{
    uint32_t size = out->size;

    if (!pool)
        return WEIR_EUNKNOWN;
    if (size > sizeof *out)
        size = sizeof *out;
    memcpy(out, &kit_of(self)->stats, size);
    out->size = size;
    return 0;
}

/* The one worker under test is all that there is. */
static int pool_members(struct weir_self *self, weir_pid pool, struct weir_member *out,
                        uint32_t member_size, uint32_t max, uint32_t *out_count)
{
    struct weir_member member = { .size = member_size < sizeof member ? member_size
                                                                      : (uint32_t)sizeof member,
                                  .index = get_index(self),
                                  .pid = get_pid(self),
                                  .state = WEIR_MEMBER_OPEN };

    if (!pool)
        return WEIR_EUNKNOWN;
    if (max > 0)
        memcpy(out, &member, member.size);
    *out_count = 1;
    return 0;
}

static int pool_pause(struct weir_self *self, weir_pid pool, bool paused)
{
    if (!pool)
        return WEIR_EUNKNOWN;
    kit_of(self)->stats.paused = paused;
    return 0;
}

static int pool_tell(struct weir_self *self, weir_pid pool, uint64_t epoch)
{
    if (!pool)
        return WEIR_EUNKNOWN;
    return epoch > kit_of(self)->stats.epoch ? WEIR_EINVALID : 0;
}

static uint32_t pool_size(struct weir_self *self)
{
    return kit_of(self)->stats.target;
}

/* --- telling people --------------------------------------------------------------------------- */

static void progress(struct weir_self *self, const char *name, uint64_t done, uint64_t total)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_unit *unit = kit->units;

    while (unit && strcmp(unit->unit, name) != 0)
        unit = unit->next;
    if (!unit) {
        unit = kit_take(sizeof *unit);
        unit->next = kit->units;
        kit->units = unit;
    }
    unit->unit = name;
    unit->done = done;
    unit->total = total;
}

static void exit_status(struct weir_self *self, int status)
{
    struct weir_kit *kit = kit_of(self);

    if (status < 0 || status > 63)
        kit_problem(kit, "the exit status %d is not in 0..63", status);
    else if (status > kit->exit_status)
        kit->exit_status = status;
}

static void print(struct weir_self *self, const char *text, size_t size)
{
    kit_text_add(&kit_of(self)->printed, text, size);
}

/* --- the table -------------------------------------------------------------------------------- */

/* --- sources ---------------------------------------------------------------------------------- */

static int leave_position(struct weir_self *self, const void *data, size_t size)
{
    struct weir_kit *kit = kit_of(self);
    void *copy;

    if (!kit->behaviour.produce)
        return WEIR_ENOTALLOWED;
    if (size > WEIR_POSITION_MAX)
        return WEIR_EINVALID;
    if (kit_allocation_fails(kit))
        return WEIR_ENOMEM;
    copy = kit_take(size ? size : 1);
    if (size > 0)
        memcpy(copy, data, size);
    free(kit->left);
    kit->left = copy;
    kit->left_size = size;
    return 0;
}

static const struct weir_host table = {
    .size = sizeof table,
    .minor = WEIR_ABI_MINOR,
    .tag = make_tag,
    .message_new = make_message,
    .message_free = free_message,
    .send = send_message,
    .lookup = lookup,
    .emit = emit,
    .request = request,
    .cancel = cancel,
    .reply = reply,
    .forward = forward,
    .settle = settle,
    .retry_after = retry_after,
    .reason = reason,
    .now_ms = now_ms,
    .send_after = send_after,
    .after = after,
    .every = every,
    .cancel_timer = cancel_timer,
    .link = tie,
    .unlink = tie,
    .monitor = monitor,
    .demonitor = demonitor,
    .trap_exits = trap_exits,
    .exit = end_other,
    .name = register_name,
    .pid = get_pid,
    .path = get_path,
    .index = get_index,
    .pool = get_pool,
    .pool_resize = pool_resize,
    .pool_add = pool_add,
    .pool_stats = pool_stats,
    .log = kit_log_line,
    .progress = progress,
    .exit_status = exit_status,
    .print = print,
    .pool_members = pool_members,
    .pool_pause = pool_pause,
    .pool_size = pool_size,
    .set_origin = kit_origin_set,
    .port = kit_port_get,
    .send_chain = send_chain,
    .stash = kit_stash_put,
    .unstash = kit_stash_give,
    .rename = rename_self,
    .pool_tell = pool_tell,
    .leave_position = leave_position,
    .time_left = time_left,
    .blob_new = kit_blob_new,
    .message_with_blob = kit_blob_message,
    .message_blob = kit_blob_find,
    .event = kit_event_own,
    .subscribe = kit_event_subscribe,
    .unsubscribe = kit_event_unsubscribe,
    .publish = publish,
};

const struct weir_host *kit_host_table(void)
{
    return &table;
}

void kit_host_finish(struct weir_kit *kit)
{
    free(kit->left);
    kit_event_finish(kit);
    kit_blob_finish(kit);
    for (struct kit_sent *sent = kit->sent, *next; sent; sent = next) {
        next = sent->next;
        free(sent);
    }
    for (struct kit_name *name = kit->names, *next; name; name = next) {
        next = name->next;
        free(name);
    }
    for (struct kit_unit *unit = kit->units, *next; unit; unit = next) {
        next = unit->next;
        free(unit);
    }
}
