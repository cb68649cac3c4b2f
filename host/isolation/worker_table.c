/* SPDX-License-Identifier: MIT */
#include "host/isolation/worker_table.h"

#include <string.h>

#include "host/isolation/dialogue.h"
#include "host/isolation/worker_ask.h"
#include "host/isolation/worker_messages.h"
#include "host/isolation/worker_pending.h"

#define LOG_FIELDS_MAX 8u

static struct worker *worker_of(struct weir_self *self)
{
    return (struct worker *)self;
}

/* --- the verdict, people ---------------------------------------------------------------------- */

static void retry_after(struct weir_self *self, uint64_t delay_ms)
{
    (void)worker_ask_with(self, DIALOGUE_RETRY_AFTER, delay_ms);
}

static int ask_text(struct weir_self *self, int call, const char *text)
{
    parcel_text(worker_begin(self), text);
    return worker_ask_status(self, call);
}

static void reason(struct weir_self *self, const char *text)
{
    (void)ask_text(self, DIALOGUE_REASON, text);
}

static void pack_field(struct parcel *out, const struct weir_field *field)
{
    parcel_text(out, field->key);
    parcel_number(out, field->kind);
    if (field->kind == WEIR_STRING)
        parcel_text(out, field->value.string);
    else
        parcel_number(out, field->value.natural);
}

static void write_log(struct weir_self *self, enum weir_log_level level, const char *event,
                      const struct weir_field *fields)
{
    struct parcel *out = worker_begin(self);
    uint32_t count = 0;

    while (fields && count < LOG_FIELDS_MAX && fields[count].key)
        count++;
    parcel_number(out, level);
    parcel_text(out, event);
    parcel_number(out, count);
    for (uint32_t i = 0; i < count; i++)
        pack_field(out, &fields[i]);
    (void)worker_ask_status(self, DIALOGUE_LOG);
}

static void progress(struct weir_self *self, const char *unit, uint64_t done, uint64_t total)
{
    struct parcel *out = worker_begin(self);

    parcel_text(out, unit);
    parcel_number(out, done);
    parcel_number(out, total);
    (void)worker_ask_status(self, DIALOGUE_PROGRESS);
}

static void progress_text(struct weir_self *self, const char *unit, const char *text)
{
    struct parcel *out = worker_begin(self);

    parcel_text(out, unit);
    parcel_text(out, text);
    (void)worker_ask_status(self, DIALOGUE_PROGRESS_TEXT);
}

static void exit_status(struct weir_self *self, int status)
{
    (void)worker_ask_with(self, DIALOGUE_EXIT_STATUS, (uint64_t)(int64_t)status);
}

static void print(struct weir_self *self, const char *text, size_t size)
{
    parcel_bytes(worker_begin(self), text, size);
    (void)worker_ask_status(self, DIALOGUE_PRINT);
}

static bool inspect_wants(const struct weir_inspection *out, const char *item)
{
    struct worker *worker = ((const struct worker_inspection *)out)->worker;
    uint64_t wants = 0;

    parcel_text(worker_begin(&worker->self), item);
    (void)worker_ask_number(&worker->self, DIALOGUE_INSPECT_WANTS, &wants);
    return wants;
}

static void inspect_add(struct weir_inspection *out, const char *item, const char *value)
{
    struct weir_self *self = &((struct worker_inspection *)out)->worker->self;

    parcel_text(worker_begin(self), item);
    parcel_text(&worker_of(self)->out, value);
    (void)worker_ask_status(self, DIALOGUE_INSPECT_ADD);
}

void worker_begin_inspection(struct worker *worker, struct worker_inspection *out)
{
    *out = (struct worker_inspection){ { inspect_wants, inspect_add }, worker };
}
/* --- actors ----------------------------------------------------------------------------------- */

static int lookup(struct weir_self *self, const char *name, weir_pid *out_pid)
{
    parcel_text(worker_begin(self), name);
    return worker_ask_number(self, DIALOGUE_LOOKUP, out_pid);
}

static int target(struct weir_self *self, uint32_t output, weir_pid *out_pid)
{
    parcel_number(worker_begin(self), output);
    return worker_ask_number(self, DIALOGUE_TARGET, out_pid);
}

static int set_link(struct weir_self *self, bool links, weir_pid pid)
{
    parcel_number(worker_begin(self), links);
    parcel_number(&worker_of(self)->out, pid);
    return worker_ask_status(self, DIALOGUE_LINK);
}

static int link_to(struct weir_self *self, weir_pid pid)
{
    return set_link(self, true, pid);
}

static int unlink_from(struct weir_self *self, weir_pid pid)
{
    return set_link(self, false, pid);
}

static int monitor(struct weir_self *self, weir_pid pid, uint64_t *out_monitor)
{
    parcel_number(worker_begin(self), pid);
    return worker_ask_number(self, DIALOGUE_MONITOR, out_monitor);
}

static int demonitor(struct weir_self *self, uint64_t number)
{
    return worker_ask_with(self, DIALOGUE_DEMONITOR, number);
}

static int trap_exits(struct weir_self *self, bool on)
{
    return worker_ask_with(self, DIALOGUE_TRAP_EXITS, on);
}

static int end_actor(struct weir_self *self, weir_pid pid, enum weir_end_reason why)
{
    worker_of(self)->stops = true; /* it may be the worker itself */
    parcel_number(worker_begin(self), pid);
    parcel_number(&worker_of(self)->out, why);
    return worker_ask_status(self, DIALOGUE_EXIT);
}

static int set_name(struct weir_self *self, const char *name)
{
    return ask_text(self, DIALOGUE_NAME, name);
}

static int change_name(struct weir_self *self, const char *from, const char *to)
{
    parcel_text(worker_begin(self), from);
    parcel_text(&worker_of(self)->out, to);
    return worker_ask_status(self, DIALOGUE_RENAME);
}

static weir_pid own_pid(struct weir_self *self)
{
    return worker_of(self)->pid;
}

static const char *own_path(struct weir_self *self)
{
    return worker_of(self)->path;
}

static uint32_t own_index(struct weir_self *self)
{
    return worker_of(self)->index;
}

static weir_pid own_pool(struct weir_self *self)
{
    return worker_of(self)->pool;
}

static weir_pid parent(struct weir_self *self)
{
    weir_pid pid = 0;

    (void)worker_begin(self);
    (void)worker_ask_number(self, DIALOGUE_PARENT, &pid);
    return pid;
}

static int set_demand(struct weir_self *self, uint32_t count)
{
    worker_of(self)->stops = true; /* the host knows how many messages the worker has */
    return worker_ask_with(self, DIALOGUE_SET_DEMAND, count);
}

static int message_fits(struct weir_self *self, size_t size)
{
    return worker_ask_with(self, DIALOGUE_MESSAGE_FITS, size);
}

/* --- pools ------------------------------------------------------------------------------------ */

/* Copies a struct of the answer, as much of it as there is room for. */
static void copy_struct(struct unparcel *from, void *out, size_t size)
{
    size_t there;
    const void *bytes = unparcel_bytes(from, &there);

    if (bytes && out)
        memcpy(out, bytes, there < size ? there : size);
}

static int change_size(struct weir_self *self, bool adds, weir_pid pool, int64_t count,
                       struct weir_resized *out)
{
    struct parcel *arguments = worker_begin(self);
    struct unparcel from;
    int status;

    parcel_number(arguments, adds);
    parcel_number(arguments, pool);
    parcel_number(arguments, (uint64_t)count);
    status = worker_ask(self, DIALOGUE_POOL_RESIZE, &from);
    if (status == WEIR_OK)
        copy_struct(&from, out, sizeof *out);
    return status;
}

static int pool_resize(struct weir_self *self, weir_pid pool, uint32_t count,
                       struct weir_resized *out)
{
    return change_size(self, false, pool, count, out);
}

static int pool_add(struct weir_self *self, weir_pid pool, int32_t count, struct weir_resized *out)
{
    return change_size(self, true, pool, count, out);
}

static int pool_stats(struct weir_self *self, weir_pid pool, struct weir_pool_stats *out)
{
    struct unparcel from;
    uint32_t size = out->size;
    int status;

    parcel_number(worker_begin(self), pool);
    status = worker_ask(self, DIALOGUE_POOL_STATS, &from);
    if (status == WEIR_OK)
        copy_struct(&from, out, size);
    out->size = size;
    return status;
}

static int pool_members(struct weir_self *self, weir_pid pool, struct weir_member *out,
                        uint32_t member_size, uint32_t max, uint32_t *out_count)
{
    struct parcel *arguments = worker_begin(self);
    struct unparcel from;
    uint64_t count;
    const char *bytes;
    size_t size;
    int status;

    parcel_number(arguments, pool);
    parcel_number(arguments, max);
    status = worker_ask(self, DIALOGUE_POOL_MEMBERS, &from);
    if (status != WEIR_OK)
        return status;
    count = unparcel_number(&from);
    bytes = unparcel_bytes(&from, &size);
    for (size_t i = 0; bytes && i < max && (i + 1) * sizeof *out <= size; i++) {
        struct weir_member member;

        memcpy(&member, bytes + i * sizeof member, sizeof member);
        if (member.size > member_size)
            member.size = member_size;
        memcpy((char *)out + i * member_size, &member, member.size);
    }
    if (out_count)
        *out_count = (uint32_t)count;
    return status;
}

static int pool_pause(struct weir_self *self, weir_pid pool, bool paused)
{
    parcel_number(worker_begin(self), pool);
    parcel_number(&worker_of(self)->out, paused);
    return worker_ask_status(self, DIALOGUE_POOL_PAUSE);
}

static uint32_t pool_size(struct weir_self *self)
{
    uint64_t size = 0;

    (void)worker_begin(self);
    (void)worker_ask_number(self, DIALOGUE_POOL_SIZE, &size);
    return (uint32_t)size;
}

/* --- not carried over ------------------------------------------------------------------------- */

static int refuse(struct weir_self *self, const char *call)
{
    weir_log(self, WEIR_LOG_WARNING, "call is not supported in a process", weir_str("call", call));
    return WEIR_EUNSUPPORTED;
}

static int set_origin(struct weir_self *self, struct weir_message *message, uint64_t token)
{
    (void)message;
    (void)token;
    return refuse(self, "weir_set_origin");
}

static struct weir_port *port(struct weir_self *self)
{
    (void)refuse(self, "weir_port");
    return NULL;
}

static int send_chain(struct weir_self *self, weir_pid to, struct weir_message *const *messages,
                      uint32_t count)
{
    (void)to;
    (void)messages;
    (void)count;
    return refuse(self, "weir_send_chain");
}

static int pool_tell(struct weir_self *self, weir_pid pool, uint64_t epoch)
{
    (void)pool;
    (void)epoch;
    return refuse(self, "weir_pool_tell");
}

static int leave_position(struct weir_self *self, const void *data, size_t size)
{
    (void)data;
    (void)size;
    return refuse(self, "weir_leave_position");
}

/* NOLINTBEGIN(readability-non-const-parameter): their types are those of the table. */
static int event(struct weir_self *self, const char *name, uint64_t *out_event)
{
    (void)name;
    (void)out_event;
    return refuse(self, "weir_event");
}

static int subscribe(struct weir_self *self, const char *name)
{
    (void)name;
    return refuse(self, "weir_subscribe");
}

static int unsubscribe(struct weir_self *self, const char *name)
{
    (void)name;
    return refuse(self, "weir_unsubscribe");
}

static int publish(struct weir_self *self, uint64_t number, struct weir_message *message,
                   uint32_t *out_taken, uint32_t *out_refused)
{
    (void)number;
    (void)message;
    (void)out_taken;
    (void)out_refused;
    return refuse(self, "weir_publish");
}

static int inspect(struct weir_self *self, weir_pid other, const char *const *items,
                   uint64_t timeout_ms, weir_then *then, void *context, uint64_t *out_reference)
{
    (void)other;
    (void)items;
    (void)timeout_ms;
    (void)then;
    (void)context;
    (void)out_reference;
    return refuse(self, "weir_inspect");
}

static int watch(struct weir_self *self, int descriptor, uint32_t events, weir_ready *ready,
                 void *context, uint64_t *out_watch)
{
    (void)descriptor;
    (void)events;
    (void)ready;
    (void)context;
    (void)out_watch;
    return refuse(self, "weir_watch");
}

static int unwatch(struct weir_self *self, uint64_t number)
{
    (void)number;
    return refuse(self, "weir_unwatch");
}

static int spawn(struct weir_self *self, const struct weir_spawn_options *options,
                 weir_pid *out_child)
{
    (void)options;
    (void)out_child;
    return refuse(self, "weir_spawn");
}

static int stop(struct weir_self *self, weir_pid child, bool now)
{
    (void)child;
    (void)now;
    return refuse(self, "weir_stop");
}

static int task(struct weir_self *self, const struct weir_message *message)
{
    (void)message;
    return refuse(self, "weir_task_run");
}

static int take(struct weir_self *self, weir_pid pool, uint64_t timeout_ms, weir_then *then,
                void *context, uint64_t *out_reference)
{
    (void)pool;
    (void)timeout_ms;
    (void)then;
    (void)context;
    (void)out_reference;
    return refuse(self, "weir_take");
}

static int lease_send(struct weir_self *self, const struct weir_lease *lease,
                      struct weir_message *message)
{
    (void)lease;
    (void)message;
    return refuse(self, "weir_lease_send");
}

static int lease_request(struct weir_self *self, const struct weir_lease *lease,
                         struct weir_message *message, uint64_t timeout_ms, weir_then *then,
                         void *context, uint64_t *out_reference)
{
    (void)lease;
    (void)message;
    (void)timeout_ms;
    (void)then;
    (void)context;
    (void)out_reference;
    return refuse(self, "weir_lease_request");
}
/* NOLINTEND(readability-non-const-parameter) */

static int lease_return(struct weir_self *self, const struct weir_lease *lease, int how)
{
    (void)lease;
    (void)how;
    return refuse(self, "weir_lease_return");
}

static int lease_renew(struct weir_self *self, const struct weir_lease *lease)
{
    (void)lease;
    return refuse(self, "weir_lease_renew");
}

/* The process has descriptors of its own, so it takes none of the host's. */
static int set_descriptors(struct weir_self *self, uint32_t count)
{
    (void)self;
    (void)count;
    return WEIR_OK;
}

/* The process itself is the one that works for the worker. */
static void child_process(struct weir_self *self, int64_t process)
{
    (void)self;
    (void)process;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct weir_host rest = {
    .size = sizeof(struct weir_host),
    .minor = WEIR_ABI_MINOR,
    .retry_after = retry_after,
    .reason = reason,
    .log = write_log,
    .progress = progress,
    .progress_text = progress_text,
    .exit_status = exit_status,
    .print = print,
    .lookup = lookup,
    .target = target,
    .link = link_to,
    .unlink = unlink_from,
    .monitor = monitor,
    .demonitor = demonitor,
    .trap_exits = trap_exits,
    .exit = end_actor,
    .name = set_name,
    .rename = change_name,
    .pid = own_pid,
    .path = own_path,
    .index = own_index,
    .pool = own_pool,
    .parent = parent,
    .set_demand = set_demand,
    .pool_resize = pool_resize,
    .pool_add = pool_add,
    .pool_stats = pool_stats,
    .pool_members = pool_members,
    .pool_pause = pool_pause,
    .pool_size = pool_size,
    .set_origin = set_origin,
    .port = port,
    .send_chain = send_chain,
    .pool_tell = pool_tell,
    .leave_position = leave_position,
    .event = event,
    .subscribe = subscribe,
    .unsubscribe = unsubscribe,
    .publish = publish,
    .inspect = inspect,
    .watch = watch,
    .unwatch = unwatch,
    .spawn = spawn,
    .stop = stop,
    .task = task,
    .take = take,
    .lease_send = lease_send,
    .lease_request = lease_request,
    .lease_return = lease_return,
    .lease_renew = lease_renew,
    .set_descriptors = set_descriptors,
    .child_process = child_process,
    .message_fits = message_fits,
};

void worker_fill_host(struct weir_host *host)
{
    *host = rest;
    worker_fill_messages(host);
    worker_fill_pending(host);
}
