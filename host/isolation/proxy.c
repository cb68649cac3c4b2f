/* SPDX-License-Identifier: MIT */
#include "host/isolation/proxy.h"

#include <stdlib.h>
#include <string.h>

#include "host/isolation/dialogue.h"

#define LABEL_MAX 189u /* as <weir/host.h> says */
#define MEMBERS_MAX 65536u
#define FIELDS_MAX 8u

/* One call. */
struct serving {
    struct weir_self *self;
    struct proxy *proxy;
    const struct proxy_callbacks *callbacks;
    struct unparcel *in;
    struct parcel *out;
    bool emits;
};

void proxy_finish(struct proxy *proxy)
{
    free(proxy->kept);
    free(proxy->tags);
    parcel_finish(&proxy->out);
    proxy->kept = NULL;
    proxy->tags = NULL;
    proxy->kept_count = proxy->kept_room = proxy->tag_count = 0;
}

void proxy_update_demand(struct weir_self *self, struct proxy *proxy)
{
    uint32_t demand = proxy->kept_count;

    if (proxy->kept_count < proxy->demand)
        demand += proxy->window.size;
    if (demand != proxy->window.demand && weir_set_demand(self, demand) == WEIR_OK)
        proxy->window.demand = demand;
}

uint64_t proxy_pack_message(struct proxy *proxy, const struct weir_message *message,
                            struct parcel *out)
{
    uint64_t number = ++proxy->last_number;

    parcel_number(out, number);
    parcel_text(out, message->tag ? message->tag->name : "");
    parcel_number(out, message->key);
    parcel_number(out, message->from);
    parcel_number(out, message->kind);
    parcel_number(out, message->lane);
    parcel_number(out, message->attempt);
    parcel_bytes(out, message->data, message->size);
    return number;
}

/* --- arguments -------------------------------------------------------------------------------- */

static void answer(struct serving *serving, int status)
{
    parcel_number(serving->out, (uint64_t)(int64_t)status);
}

static void answer_with(struct serving *serving, int status, uint64_t number)
{
    answer(serving, status);
    parcel_number(serving->out, number);
}

/* Where the message with the next number is; NULL: the worker has none. */
static struct proxy_message *take_known(struct serving *serving)
{
    uint64_t number = unparcel_number(serving->in);
    struct proxy *proxy = serving->proxy;

    if (number && number == proxy->in_hand.number)
        return proxy->in_hand.message ? &proxy->in_hand : NULL;
    for (uint32_t i = 0; i < proxy->kept_count; i++)
        if (proxy->kept[i].number == number)
            return &proxy->kept[i];
    return NULL;
}

/* The worker has the message no more. */
static void forget(struct proxy *proxy, struct proxy_message *known)
{
    struct proxy_message *end = proxy->kept + proxy->kept_count;

    if (known == &proxy->in_hand) {
        known->message = NULL;
        return;
    }
    memmove(known, known + 1, (size_t)(end - (known + 1)) * sizeof *known);
    proxy->kept_count--;
}

/* NULL: no name, too many, or memory is out. */
static const struct weir_tag *tag_of(struct serving *serving, const char *name)
{
    struct proxy *proxy = serving->proxy;

    for (uint32_t i = 0; i < proxy->tag_count; i++)
        if (strcmp(proxy->tags[i]->name, name) == 0)
            return proxy->tags[i];
    if (!proxy->tags)
        proxy->tags = calloc(DIALOGUE_TAGS_MAX, sizeof *proxy->tags);
    if (!proxy->tags || proxy->tag_count == DIALOGUE_TAGS_MAX)
        return NULL;
    proxy->tags[proxy->tag_count] = weir_tag(serving->self, name);
    return proxy->tags[proxy->tag_count] ? proxy->tags[proxy->tag_count++] : NULL;
}

/* Makes the message joined or detached, as the process wants it. Core has the message in hand as a
 * kept one, so an output joins it here. */
static int set_join(struct serving *serving, struct weir_message *message, bool detached,
                    bool joined, const struct proxy_message *with)
{
    if (detached)
        return weir_detach(serving->self, message);
    if (!joined && serving->emits && serving->proxy->in_hand.message)
        return weir_join(serving->self, message, serving->proxy->in_hand.message);
    if (!joined)
        return WEIR_OK;
    return with ? weir_join(serving->self, message, with->message) : WEIR_EINVALID;
}

/* The next message, made in the host; owned. NULL: the call has been answered. */
static struct weir_message *take_message(struct serving *serving)
{
    const char *name = unparcel_text(serving->in);
    uint64_t key = unparcel_number(serving->in);
    const char *label = unparcel_text(serving->in);
    bool detached = unparcel_number(serving->in), joined = unparcel_number(serving->in);
    const struct proxy_message *with = take_known(serving);
    size_t size;
    const void *bytes = unparcel_bytes(serving->in, &size);
    const struct weir_tag *tag = serving->in->wrong || !name[0] ? NULL : tag_of(serving, name);
    struct weir_message *message = NULL;
    int status = WEIR_ENOMEM;

    if (serving->in->wrong)
        return NULL;
    if (tag || !name[0])
        message = label[0] && strlen(label) <= LABEL_MAX
                      ? weir_message_new_labelled(serving->self, tag, size, label)
                      : weir_message_new(serving->self, tag, size);
    if (message)
        status = set_join(serving, message, detached, joined, with);
    if (status != WEIR_OK) {
        weir_message_free(serving->self, message);
        answer_with(serving, status, 0);
        return NULL;
    }
    if (size)
        memcpy(message->data, bytes, size);
    message->key = key;
    return message;
}

/* Takes the message when it was not sent. */
static void answer_sent(struct serving *serving, int status, uint64_t number,
                        struct weir_message *message)
{
    if (status != WEIR_OK)
        weir_message_free(serving->self, message);
    answer_with(serving, status, number);
}

/* --- messages --------------------------------------------------------------------------------- */

static void serve_send(struct serving *serving)
{
    weir_pid to = unparcel_number(serving->in);
    enum weir_lane lane = (enum weir_lane)(unparcel_number(serving->in) % 3);
    struct weir_message *message = take_message(serving);

    if (message)
        answer_sent(serving, weir_send_lane(serving->self, to, lane, message), 0, message);
}

static void serve_send_after(struct serving *serving)
{
    weir_pid to = unparcel_number(serving->in);
    uint64_t delay_ms = unparcel_number(serving->in), timer = 0;
    struct weir_message *message = take_message(serving);
    int status;

    if (!message)
        return;
    status = weir_send_after(serving->self, to, message, delay_ms, &timer);
    answer_sent(serving, status, timer, message);
}

static void serve_emit(struct serving *serving)
{
    uint32_t output = (uint32_t)unparcel_number(serving->in);
    struct weir_message *message;

    serving->emits = true;
    message = take_message(serving);
    if (message)
        answer_sent(serving, weir_emit(serving->self, output, message), 0, message);
}

static void serve_request(struct serving *serving)
{
    weir_pid to = unparcel_number(serving->in);
    enum weir_lane lane = (enum weir_lane)(unparcel_number(serving->in) % 3);
    uint64_t timeout_ms = unparcel_number(serving->in), cookie = unparcel_number(serving->in);
    uint64_t reference = 0;
    struct weir_message *message = take_message(serving);
    int status;

    if (!message)
        return;
    status = weir_request_lane(serving->self, to, lane, message, timeout_ms,
                               serving->callbacks->then, (void *)(uintptr_t)cookie, &reference);
    answer_sent(serving, status, reference, message);
}

static void serve_cancel(struct serving *serving)
{
    answer(serving, weir_cancel(serving->self, unparcel_number(serving->in)));
}

static void serve_reply(struct serving *serving)
{
    struct proxy_message *known = take_known(serving);
    struct weir_message *reply = take_message(serving);

    if (reply)
        answer_sent(serving,
                    known ? weir_reply(serving->self, known->message, reply) : WEIR_EINVALID, 0,
                    reply);
}

static void serve_forward(struct serving *serving)
{
    weir_pid to = unparcel_number(serving->in);
    enum weir_lane lane = (enum weir_lane)(unparcel_number(serving->in) % 3);
    struct proxy_message *known = take_known(serving);
    int status = known ? weir_forward_lane(serving->self, to, lane, known->message) : WEIR_EINVALID;

    if (status == WEIR_OK)
        forget(serving->proxy, known);
    answer(serving, status);
}

/* That in hand is settled by the verdict of `handle`. */
static void serve_settle(struct serving *serving)
{
    int verdict = (int)unparcel_number(serving->in);
    struct proxy_message *known = take_known(serving);
    int status = WEIR_EINVALID;

    if (dialogue_host_decides(verdict))
        serving->proxy->window.is_over = true;
    if (known && known != &serving->proxy->in_hand)
        status = weir_settle(serving->self, known->message, verdict);
    if (status == WEIR_OK)
        forget(serving->proxy, known);
    answer(serving, status);
}

static void serve_stash(struct serving *serving)
{
    struct proxy_message *known = take_known(serving);
    int status = known ? weir_stash(serving->self, known->message) : WEIR_EINVALID;

    serving->proxy->window.is_over = serving->proxy->window.is_single = true;
    if (status == WEIR_OK)
        forget(serving->proxy, known);
    answer(serving, status);
}

static void serve_put_back(struct serving *serving)
{
    struct proxy_message *known = take_known(serving);
    int status = known ? weir_put_back(serving->self, known->message) : WEIR_EINVALID;

    serving->proxy->window.is_over = true;
    if (status == WEIR_OK)
        forget(serving->proxy, known);
    answer(serving, status);
}

static void serve_unstash(struct serving *serving)
{
    serving->proxy->window.is_over = true;
    answer_with(serving, WEIR_OK,
                weir_unstash(serving->self, (uint32_t)unparcel_number(serving->in)));
}

static void serve_time_left(struct serving *serving)
{
    struct proxy_message *known = take_known(serving);

    answer_with(serving, WEIR_OK, known ? weir_time_left(serving->self, known->message) : 0);
}

/* --- the verdict, time ------------------------------------------------------------------------ */

static void serve_retry_after(struct serving *serving)
{
    serving->proxy->has_said = true;
    weir_retry_after(serving->self, unparcel_number(serving->in));
    answer(serving, WEIR_OK);
}

static void serve_reason(struct serving *serving)
{
    serving->proxy->has_said = true;
    weir_reason(serving->self, "%s", unparcel_text(serving->in));
    answer(serving, WEIR_OK);
}

static void serve_after(struct serving *serving)
{
    bool again = unparcel_number(serving->in);
    uint64_t period_ms = unparcel_number(serving->in), timer = 0;
    void *cookie = (void *)(uintptr_t)unparcel_number(serving->in);
    weir_tick *tick = serving->callbacks->tick;
    int status = again ? weir_every(serving->self, period_ms, tick, cookie, &timer)
                       : weir_after(serving->self, period_ms, tick, cookie, &timer);

    answer_with(serving, status, timer);
}

static void serve_cancel_timer(struct serving *serving)
{
    answer(serving, weir_cancel_timer(serving->self, unparcel_number(serving->in)));
}

static void serve_set_demand(struct serving *serving)
{
    struct proxy *proxy = serving->proxy;
    uint64_t count = unparcel_number(serving->in);
    int status = count <= proxy->in_hand_max ? WEIR_OK : WEIR_EINVALID;

    proxy->window.is_over = true;
    if (status == WEIR_OK)
        proxy->demand = (uint32_t)count;
    answer(serving, status);
}

static void serve_message_fits(struct serving *serving)
{
    uint64_t size = unparcel_number(serving->in);

    answer(serving, weir_message_fits(serving->self, size) ? 0 : WEIR_EINVALID);
}

/* --- other actors ----------------------------------------------------------------------------- */

static void serve_lookup(struct serving *serving)
{
    weir_pid pid = 0;
    int status = weir_lookup(serving->self, unparcel_text(serving->in), &pid);

    answer_with(serving, status, pid);
}

static void serve_target(struct serving *serving)
{
    weir_pid pid = 0;
    int status = weir_target(serving->self, (uint32_t)unparcel_number(serving->in), &pid);

    answer_with(serving, status, pid);
}

static void serve_link(struct serving *serving)
{
    bool links = unparcel_number(serving->in);
    weir_pid pid = unparcel_number(serving->in);

    answer(serving, links ? weir_link(serving->self, pid) : weir_unlink(serving->self, pid));
}

static void serve_monitor(struct serving *serving)
{
    uint64_t monitor = 0;
    int status = weir_monitor(serving->self, unparcel_number(serving->in), &monitor);

    answer_with(serving, status, monitor);
}

static void serve_demonitor(struct serving *serving)
{
    answer(serving, weir_demonitor(serving->self, unparcel_number(serving->in)));
}

static void serve_trap_exits(struct serving *serving)
{
    answer(serving, weir_trap_exits(serving->self, unparcel_number(serving->in)));
}

static void serve_exit(struct serving *serving)
{
    weir_pid pid = unparcel_number(serving->in);

    serving->proxy->window.is_over = true;
    answer(serving,
           weir_exit(serving->self, pid, (enum weir_end_reason)unparcel_number(serving->in)));
}

static void serve_name(struct serving *serving)
{
    answer(serving, weir_name(serving->self, unparcel_text(serving->in)));
}

static void serve_rename(struct serving *serving)
{
    const char *from = unparcel_text(serving->in);

    answer(serving, weir_rename(serving->self, from, unparcel_text(serving->in)));
}

static void serve_parent(struct serving *serving)
{
    answer_with(serving, WEIR_OK, serving->self->host->parent(serving->self));
}

/* --- pools ------------------------------------------------------------------------------------ */

static void serve_pool_resize(struct serving *serving)
{
    bool adds = unparcel_number(serving->in);
    weir_pid pool = unparcel_number(serving->in);
    int64_t count = (int64_t)unparcel_number(serving->in);
    struct weir_resized resized = { 0 };
    const struct weir_host *host = serving->self->host;
    int status = adds ? host->pool_add(serving->self, pool, (int32_t)count, &resized)
                      : host->pool_resize(serving->self, pool, (uint32_t)count, &resized);

    answer(serving, status);
    parcel_bytes(serving->out, &resized, sizeof resized);
}

static void serve_pool_stats(struct serving *serving)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    int status = serving->self->host->pool_stats(serving->self, unparcel_number(serving->in),
                                                 &stats);

    answer(serving, status);
    parcel_bytes(serving->out, &stats, sizeof stats);
}

static void serve_pool_members(struct serving *serving)
{
    weir_pid pool = unparcel_number(serving->in);
    uint64_t max = unparcel_number(serving->in);
    struct weir_member *members = max <= MEMBERS_MAX ? calloc(max + 1, sizeof *members) : NULL;
    uint32_t count = 0;
    int status = WEIR_ENOMEM;

    if (members)
        status = serving->self->host->pool_members(serving->self, pool, members, sizeof *members,
                                                   (uint32_t)max, &count);
    answer_with(serving, status, count);
    parcel_bytes(serving->out, members, (count < max ? count : max) * sizeof *members);
    free(members);
}

static void serve_pool_pause(struct serving *serving)
{
    weir_pid pool = unparcel_number(serving->in);

    answer(serving,
           serving->self->host->pool_pause(serving->self, pool, unparcel_number(serving->in)));
}

static void serve_pool_size(struct serving *serving)
{
    answer_with(serving, WEIR_OK, serving->self->host->pool_size(serving->self));
}

/* --- people ----------------------------------------------------------------------------------- */

static void take_field(struct serving *serving, struct weir_field *out)
{
    out->key = unparcel_text(serving->in);
    out->kind = (uint32_t)unparcel_number(serving->in);
    if (out->kind == WEIR_STRING) {
        out->value.string = unparcel_text(serving->in);
        return;
    }
    out->value.natural = unparcel_number(serving->in);
    if (out->kind != WEIR_I64 && out->kind != WEIR_U64 && out->kind != WEIR_F64)
        serving->in->wrong = true;
}

static void serve_log(struct serving *serving)
{
    enum weir_log_level level = (enum weir_log_level)(unparcel_number(serving->in) % 4);
    const char *event = unparcel_text(serving->in);
    uint64_t count = unparcel_number(serving->in);
    struct weir_field fields[FIELDS_MAX + 1] = { 0 };

    if (count > FIELDS_MAX)
        serving->in->wrong = true;
    for (uint64_t i = 0; !serving->in->wrong && i < count; i++)
        take_field(serving, &fields[i]);
    if (!serving->in->wrong)
        serving->self->host->log(serving->self, level, event, fields);
    answer(serving, WEIR_OK);
}

static void serve_progress(struct serving *serving)
{
    const char *unit = unparcel_text(serving->in);
    uint64_t done = unparcel_number(serving->in);

    weir_progress(serving->self, unit, done, unparcel_number(serving->in));
    answer(serving, WEIR_OK);
}

static void serve_progress_text(struct serving *serving)
{
    const char *unit = unparcel_text(serving->in);

    weir_progress_text(serving->self, unit, unparcel_text(serving->in));
    answer(serving, WEIR_OK);
}

static void serve_exit_status(struct serving *serving)
{
    weir_exit_status(serving->self, (int)unparcel_number(serving->in));
    answer(serving, WEIR_OK);
}

static void serve_print(struct serving *serving)
{
    size_t size;
    const char *text = unparcel_bytes(serving->in, &size);

    if (text)
        weir_print(serving->self, text, size);
    answer(serving, WEIR_OK);
}

static void serve_inspect_wants(struct serving *serving)
{
    const struct weir_inspection *inspection = serving->proxy->inspection;
    const char *item = unparcel_text(serving->in);

    answer_with(serving, WEIR_OK, inspection && weir_inspect_wants(inspection, item));
}

static void serve_inspect_add(struct serving *serving)
{
    struct weir_inspection *inspection = serving->proxy->inspection;
    const char *item = unparcel_text(serving->in), *value = unparcel_text(serving->in);

    if (inspection)
        weir_inspect_add(inspection, item, "%s", value);
    answer(serving, WEIR_OK);
}

/* --- all calls -------------------------------------------------------------------------------- */

typedef void serve(struct serving *serving);

static serve *const table[] = {
#define SERVE_ROW(name, function) [DIALOGUE_##name - DIALOGUE_RETURN] = serve_##function,
    DIALOGUE_CALL_LIST(SERVE_ROW)
#undef SERVE_ROW
};

int proxy_serve(struct weir_self *self, struct proxy *proxy,
                const struct proxy_callbacks *callbacks, struct channel_frame *frame)
{
    struct serving serving = { self, proxy, callbacks, &frame->content, &proxy->out, false };

    parcel_clear(&proxy->out);
    if (frame->kind <= DIALOGUE_RETURN || frame->kind >= DIALOGUE_CALL_END)
        return WEIR_EINVALID;
    table[frame->kind - DIALOGUE_RETURN](&serving);
    return frame->content.wrong ? WEIR_EINVALID : WEIR_OK;
}
