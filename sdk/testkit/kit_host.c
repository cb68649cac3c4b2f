/* SPDX-License-Identifier: MIT */
#include "kit_host.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/text.h"

#include "kit_actor.h"
#include "kit_blob.h"
#include "kit_child.h"
#include "kit_event.h"
#include "kit_front.h"
#include "kit_inspect.h"
#include "kit_lease.h"
#include "kit_log.h"
#include "kit_message.h"
#include "kit_origin.h"
#include "kit_pool.h"
#include "kit_port.h"
#include "kit_port_tasks.h"
#include "kit_send.h"
#include "kit_stash.h"
#include "kit_tag.h"
#include "kit_time.h"
#include "kit_watch.h"

#define KIT_TEXT_MAX 512u /* of weir_progress_text */
#define KIT_UNITS_MAX 16u /* of weir_progress */

/* --- messages --------------------------------------------------------------------------------- */

static const struct weir_tag *make_tag(struct weir_self *self, const char *name)
{
    struct weir_kit *kit = kit_of(self);

    return kit_allocation_fails(kit) ? NULL : kit_tag_find(name);
}

static int message_fits(struct weir_self *self, size_t size)
{
    const struct weir_kit *kit = kit_of(self);

    return kit->memory == 0 || size <= kit->memory ? 0 : WEIR_EINVALID;
}

static struct weir_message *make_message(struct weir_self *self, const struct weir_tag *tag,
                                         size_t size)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_message *made;

    made = kit_allocation_fails(kit) || message_fits(self, size) != 0
               ? NULL
               : kit_message_make(kit, KIT_PLUGIN, tag, size);
    return made ? &made->message : NULL;
}

/* A plugin cannot read a label, so the kit keeps none, but whether there is one. */
static struct weir_message *make_labelled(struct weir_self *self, const struct weir_tag *tag,
                                          size_t size, const char *label)
{
    struct weir_message *made = make_message(self, tag, size);

    (void)label;
    if (made)
        ((struct kit_message *)(void *)made)->is_labelled = true;
    return made;
}

static int set_identity(struct weir_self *self, struct weir_message *message, const void *bytes,
                        size_t size)
{
    (void)bytes;
    if (!kit_message_is_owned(kit_of(self), message, "named") ||
        !((struct kit_message *)(void *)message)->is_labelled || size == 0)
        return WEIR_EINVALID;
    return 0;
}

static void free_message(struct weir_self *self, struct weir_message *message)
{
    if (message && kit_message_is_owned(kit_of(self), message, "freed"))
        kit_message_give((struct kit_message *)(void *)message, KIT_FREED);
}

/* --- the verdict, and time -------------------------------------------------------------------- */

static int settle(struct weir_self *self, struct weir_message *kept, int verdict)
{
    return kit_message_settle_kept(kit_of(self), kept, verdict);
}

static void retry_after(struct weir_self *self, uint64_t delay_ms)
{
    kit_of(self)->retry_ms = delay_ms < UINT32_MAX ? delay_ms : UINT32_MAX;
}

static void reason(struct weir_self *self, const char *text)
{
    struct weir_kit *kit = kit_of(self);

    (void)snprintf(kit->reason, sizeof kit->reason, "%s", text);
    text_end_at_character(kit->reason);
}

static uint64_t time_left(struct weir_self *self, const struct weir_message *message)
{
    if (kit_of(self)->unwanted)
        return 0;
    return message->kind == WEIR_REQUEST ? kit_of(self)->time_left_ms : UINT64_MAX;
}

static uint64_t now_ms(struct weir_self *self)
{
    return kit_of(self)->now_ms;
}

/* --- about oneself ---------------------------------------------------------------------------- */

static weir_pid get_pid(struct weir_self *self)
{
    return kit_pid(kit_of(self));
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

/* --- messages for people ---------------------------------------------------------------------- */

/* NULL: there is no place for another unit. */
static struct kit_unit *find_unit(struct weir_self *self, const char *name)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_unit *unit = kit->units;
    uint32_t count = 0;

    for (; unit && strcmp(unit->unit, name) != 0; unit = unit->next)
        count++;
    if (!unit && count == KIT_UNITS_MAX)
        kit_problem(kit, "%s is a unit too many: the host shows %u", name, KIT_UNITS_MAX);
    else if (!unit) {
        unit = kit_take(sizeof *unit);
        unit->next = kit->units;
        unit->unit = name;
        kit->units = unit;
    }
    return unit;
}

static void progress(struct weir_self *self, const char *name, uint64_t done, uint64_t total)
{
    struct kit_unit *unit = find_unit(self, name);

    if (!unit)
        return;
    unit->done = done;
    unit->total = total;
}

static void progress_text(struct weir_self *self, const char *name, const char *text)
{
    struct kit_unit *unit;

    if (!text[0] || strlen(text) > KIT_TEXT_MAX)
        return;
    unit = find_unit(self, name);
    if (!unit)
        return;
    free(unit->text);
    unit->text = strdup(text);
    unit->total = WEIR_GAUGE;
}

static void exit_status(struct weir_self *self, int status)
{
    struct weir_kit *kit = kit_of(self);

    if ((status < 0 || status > 63) && status != EX_IOERR)
        kit_problem(kit, "the exit status %d is neither in 0..63 nor 74", status);
    else if (status > kit->exit_status)
        kit->exit_status = status;
}

static int set_demand(struct weir_self *self, uint32_t count)
{
    struct weir_kit *kit = kit_of(self);

    if (kit->behaviour.produce)
        return WEIR_ENOTALLOWED;
    if (count > kit_message_in_hand_max(kit))
        return WEIR_EINVALID;
    kit->demand = count;
    return 0;
}

static int set_descriptors(struct weir_self *self, uint32_t count)
{
    struct weir_kit *kit = kit_of(self);

    if (count > kit->descriptors && count > kit->descriptors_limit)
        return WEIR_EFULL;
    kit->descriptors = count;
    return 0;
}

static void child_process(struct weir_self *self, int64_t process)
{
    kit_of(self)->child_process = process > 0 ? process : 0;
}

static void print(struct weir_self *self, const char *text, size_t size)
{
    kit_text_add(&kit_of(self)->printed, text, size);
}

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

/* --- the table -------------------------------------------------------------------------------- */

static const struct weir_host table = {
    .size = sizeof table,
    .minor = WEIR_ABI_MINOR,
    .tag = make_tag,
    .message_new = make_message,
    .message_free = free_message,
    .send = kit_send_message,
    .lookup = kit_actor_lookup,
    .emit = kit_send_emit,
    .request = kit_send_request,
    .cancel = kit_time_cancel_request,
    .reply = kit_send_reply,
    .forward = kit_send_forward,
    .settle = settle,
    .retry_after = retry_after,
    .reason = reason,
    .now_ms = now_ms,
    .send_after = kit_time_send_after,
    .after = kit_time_after,
    .every = kit_time_every,
    .cancel_timer = kit_time_cancel_timer,
    .link = kit_actor_link,
    .unlink = kit_actor_link,
    .monitor = kit_actor_monitor,
    .demonitor = kit_actor_demonitor,
    .trap_exits = kit_actor_trap_exits,
    .exit = kit_actor_exit,
    .name = kit_actor_name,
    .pid = get_pid,
    .path = get_path,
    .index = get_index,
    .pool = get_pool,
    .pool_resize = kit_pool_resize,
    .pool_add = kit_pool_add,
    .pool_stats = kit_pool_stats,
    .log = kit_log_line,
    .progress = progress,
    .progress_text = progress_text,
    .message_labelled = make_labelled,
    .exit_status = exit_status,
    .set_demand = set_demand,
    .set_descriptors = set_descriptors,
    .child_process = child_process,
    .message_fits = message_fits,
    .set_identity = set_identity,
    .put_back = kit_front_put_back,
    .task = kit_task_run,
    .print = print,
    .pool_members = kit_pool_members,
    .pool_pause = kit_pool_pause,
    .pool_size = kit_pool_size,
    .set_origin = kit_origin_set,
    .port = kit_port_get,
    .send_chain = kit_send_chain,
    .stash = kit_stash_put,
    .unstash = kit_stash_give,
    .rename = kit_actor_rename,
    .pool_tell = kit_pool_tell,
    .leave_position = leave_position,
    .time_left = time_left,
    .blob_new = kit_blob_new,
    .message_with_blob = kit_blob_message,
    .message_blob = kit_blob_find,
    .event = kit_event_own,
    .subscribe = kit_event_subscribe,
    .unsubscribe = kit_event_unsubscribe,
    .publish = kit_send_publish,
    .inspect = kit_inspect_ask,
    .watch = kit_watch_begin,
    .unwatch = kit_watch_end,
    .spawn = kit_child_spawn,
    .stop = kit_child_stop,
    .parent = kit_child_parent,
    .take = kit_lease_take,
    .lease_send = kit_lease_send,
    .lease_request = kit_lease_request,
    .lease_return = kit_lease_return,
    .lease_renew = kit_lease_renew,
    .join = kit_origin_join,
    .detach = kit_origin_detach,
    .target = kit_send_target,
};

const struct weir_host *kit_host_table(void)
{
    return &table;
}

void kit_host_finish(struct weir_kit *kit)
{
    free(kit->left);
    kit_actor_finish(kit);
    kit_child_finish(kit);
    kit_event_finish(kit);
    kit_blob_finish(kit);
    free(kit->seek);
    for (struct kit_sent *sent = kit->sent, *next; sent; sent = next) {
        next = sent->next;
        free(sent);
    }
    for (struct kit_unit *unit = kit->units, *next; unit; unit = next) {
        next = unit->next;
        free(unit->text);
        free(unit);
    }
}
