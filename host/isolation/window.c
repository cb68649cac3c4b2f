/* SPDX-License-Identifier: MIT */
#include "host/isolation/window.h"

#include <stdlib.h>

#include "base/clock.h"
#include "host/isolation/callbacks.h"

#define NS_PER_MS UINT64_C(1000000)
/* A window that takes the process no longer grows. Its own time counts: on a busy machine it may
 * wait much longer for a CPU, before the first message and not before each. */
#define QUICK_NS NS_PER_MS
/* The host looks whether the process has begun a window. What it has not begun so long after that
 * goes back. */
#define LOOK_NS NS_PER_MS
#define RECALL_NS (2 * NS_PER_MS)
/* Between two looks at the memory of the process; at the pool; and at one with an idle worker,
 * since that ends soon. A look counts all workers: each millisecond, the looks of 16 at work among
 * 64 took a third of the host's time of the CPU. */
#define MEMORY_NS (1000 * NS_PER_MS)
#define POOL_NS (100 * NS_PER_MS)
#define POOL_IDLE_NS (10 * NS_PER_MS)
#define KEPT_MIN 16u

static uint64_t now_ns(void)
{
    struct clock clock = clock_monotonic();

    return clock_now_ns(&clock);
}

bool window_is_empty(const struct proxy *proxy)
{
    return proxy->window.begin == proxy->window.end;
}

static bool has_given(const struct proxy_window *window)
{
    return window->given > window->begin;
}

/* --- its size --------------------------------------------------------------------------------- */

static uint32_t bound_of(const struct proxy *proxy)
{
    const struct isolated_options *options = &proxy->isolated->options;

    /* What a plugin gathers itself would be lost together. */
    return proxy->window.is_single || options->behaviour->flush ? 1 : options->window;
}

/* A message that waits behind others could be handled by a sibling. The worker has a message in
 * hand, and is not the idle one itself. */
static void look_at_pool(struct weir_self *self, struct proxy *proxy)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct proxy_window *window = &proxy->window;
    uint64_t now = now_ns();

    if (window->looked_ns && now < window->looked_ns + (window->has_idle ? POOL_IDLE_NS : POOL_NS))
        return;
    window->looked_ns = now;
    window->has_idle = weir_pool_stats(self, weir_pool(self), &stats) == WEIR_OK &&
                       (stats.idle > 0 || stats.limit == WEIR_UNBUFFERED);
}

static uint32_t next_size(const struct proxy_window *window)
{
    if (window->is_recalled)
        return window->ended > 3 ? window->ended / 2 : 1;
    if (window->is_over)
        return 1;
    if (window->ended >= window->size && window->worked_ns <= QUICK_NS)
        return 2 * window->size;
    return window->size > 1 && window->worked_ns > RECALL_NS ? window->size / 2 : window->size;
}

void window_bound(struct weir_self *self, struct proxy *proxy)
{
    if (proxy->window.size > bound_of(proxy))
        proxy->window.size = bound_of(proxy);
    proxy_update_demand(self, proxy);
}

/* At the end of a window. */
static void set_size(struct weir_self *self, struct proxy *proxy)
{
    struct proxy_window *window = &proxy->window;

    window->size = window->has_idle ? 1 : next_size(window);
    window_bound(self, proxy);
}

static void look_by(struct proxy *proxy, uint64_t time_ns)
{
    if (time_ns < proxy->channel.look_ns)
        proxy->channel.look_ns = time_ns;
}

/* Messages behind the first one. */
static bool has_others(const struct proxy_window *window)
{
    return window->end - window->begin > 1;
}

static void recall_if_late(struct proxy *proxy, uint64_t now)
{
    struct proxy_window *window = &proxy->window;

    uint64_t first = window->rows[0].number; /* 0 = it is not given */

    if (!window->started_ns && first && segment_begun(&proxy->channel.end) >= first)
        window->started_ns = now;
    if (window->started_ns && now >= window->started_ns + RECALL_NS) {
        window->is_over = window->is_recalled = true;
        segment_recall(&proxy->channel.end, proxy->last_number);
    } else {
        look_by(proxy, window->started_ns ? window->started_ns + RECALL_NS : now + LOOK_NS);
    }
}

/* `look` of the channel: no sleep of the host is longer than until `look_ns`. */
static int look(void *context)
{
    struct proxy *proxy = context;
    struct proxy_window *window = &proxy->window;
    uint64_t memory = proxy->isolated->options.memory, now = now_ns();

    proxy->channel.look_ns = memory && now < proxy->memory_ns ? proxy->memory_ns : now + MEMORY_NS;
    if (has_others(window) && !window->is_over)
        recall_if_late(proxy, now);
    if (!memory || now < proxy->memory_ns)
        return WEIR_OK;
    /* What is shared or mapped from a file is memory that no limit of the kernel bounds. */
    proxy->memory_ns = now + MEMORY_NS;
    proxy->is_too_large = life_memory(&proxy->life) > memory;
    return proxy->is_too_large ? WEIR_ENOMEM : WEIR_OK;
}

void window_open(struct weir_self *self, struct proxy *proxy)
{
    proxy->window.size = 1;
    proxy->window.demand = UINT32_MAX;
    proxy->channel.look = look;
    proxy->channel.context = proxy;
    proxy_update_demand(self, proxy);
}

/* --- what is not begun ------------------------------------------------------------------------ */

/* Another lane than the normal one has no front: the message goes to its end. */
static void put_back(struct weir_self *self, const struct weir_message *message)
{
    if (weir_put_back(self, message) != WEIR_OK &&
        weir_forward_lane(self, weir_pid_of(self), message->lane, message) != WEIR_OK)
        (void)weir_settle(self, message, WEIR_RETRY);
}

static void put_rest_back(struct weir_self *self, struct proxy_window *window)
{
    while (window->begin < window->end)
        put_back(self, window->rows[window->begin++].message);
    window->given = window->end;
}

/* --- giving ----------------------------------------------------------------------------------- */

/* The first one that was given is in hand now. */
static void begin_first(struct proxy *proxy)
{
    proxy->in_hand = proxy->window.rows[proxy->window.begin];
    proxy->has_said = false;
    callbacks_set_due(proxy, DIALOGUE_HANDLE);
}

/* A process that crashed with it may have been ruined by another one: nothing is behind it. */
static bool is_for_itself(const struct weir_message *message)
{
    return message->attempt > 1 || message->lane != WEIR_NORMAL ||
           message->size > DIALOGUE_AHEAD_MAX;
}

/* No memory for the arguments. */
static void postpone_first(struct weir_self *self, struct proxy_window *window)
{
    window->is_over = true;
    window->given++;
    (void)weir_settle(self, window->rows[window->begin++].message, WEIR_POSTPONE);
}

/* Gives what may be given. `waits`: for room, when the process has nothing else to do than to make
 * it. */
static int give(struct weir_self *self, struct proxy *proxy, bool waits)
{
    struct proxy_window *window = &proxy->window;

    while (window->given < window->end && !window->is_over) {
        struct proxy_message *row = &window->rows[window->given];
        bool is_first = !has_given(window), is_alone = is_for_itself(row->message);
        int status;

        if (!is_first && (is_alone || window->is_alone))
            return WEIR_OK;
        parcel_clear(&proxy->out);
        parcel_number(&proxy->out, is_first);
        row->number = proxy_pack_message(proxy, row->message, &proxy->out);
        if (proxy->out.failed) {
            if (is_first && waits)
                postpone_first(self, window);
            return WEIR_OK;
        }
        if (is_first) /* it may wait for room */
            callbacks_set_due(proxy, DIALOGUE_HANDLE);
        status = is_first && waits
                     ? channel_send(&proxy->channel, DIALOGUE_HANDLE, row->number, &proxy->out)
                     : channel_try_send(&proxy->channel, DIALOGUE_HANDLE, row->number, &proxy->out);
        if (status == WEIR_EFULL)
            return WEIR_OK;
        if (status == WEIR_EINVALID)
            return status;
        window->given++; /* the process may have begun it, and ended */
        window->is_alone = is_alone;
        if (is_first)
            begin_first(proxy);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

static bool reserve_kept(struct proxy *proxy)
{
    uint32_t room = proxy->kept_room ? 2 * proxy->kept_room : KEPT_MIN;
    uint32_t ahead = proxy->window.end - proxy->window.begin;
    struct proxy_message *kept;

    while (room <= proxy->kept_count + ahead)
        room *= 2;
    if (proxy->kept_count + ahead < proxy->kept_room)
        return true;
    kept = realloc(proxy->kept, room * sizeof *kept);
    if (!kept)
        return false;
    proxy->kept = kept;
    proxy->kept_room = room;
    return true;
}

/* With its first message. */
static void begin_window(struct weir_self *self, struct proxy *proxy)
{
    struct proxy_window *window = &proxy->window;

    if (window->size > 1 || window->has_idle)
        look_at_pool(self, proxy);
    if (window->has_idle && window->size > 1) {
        window->size = 1;
        proxy_update_demand(self, proxy);
    }
    window->begin = window->given = window->end = window->ended = 0;
    window->is_alone = window->is_over = window->is_recalled = false;
    window->ending = WEIR_KEEP;
    window->worked_ns = window->started_ns = 0;
}

int window_handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct proxy *proxy = state;
    struct proxy_window *window = &proxy->window;

    if (message->size > DIALOGUE_PAYLOAD_MAX) {
        weir_reason(self, "isolated: payload above 256MiB");
        return WEIR_REJECT;
    }
    if (window_is_empty(proxy))
        begin_window(self, proxy);
    if (!proxy->runs || window->end == DIALOGUE_WINDOW_MAX || !reserve_kept(proxy))
        return WEIR_POSTPONE;
    window->rows[window->end++] = (struct proxy_message){ .message = message };
    if (window->end - window->begin == 2)
        look_by(proxy, now_ns() + LOOK_NS);
    (void)give(self, proxy, false); /* `flush` meets what is wrong again */
    return WEIR_KEEP;
}

/* --- verdicts --------------------------------------------------------------------------------- */

/* The next message has a delay and a reason of its own. */
static void forget_what_it_said(struct weir_self *self, const struct proxy *proxy)
{
    if (!proxy->has_said)
        return;
    weir_retry_after(self, 0);
    weir_reason(self, "%s", "");
}

static void settle(struct weir_self *self, struct proxy *proxy, int verdict)
{
    const struct weir_message *message = proxy->in_hand.message;
    struct proxy_window *window = &proxy->window;

    if (dialogue_host_decides(verdict))
        window->is_over = true;
    switch (verdict) {
    case WEIR_KEEP:
        if (message)
            proxy->kept[proxy->kept_count++] = proxy->in_hand;
        break;
    case WEIR_DONE:
    case WEIR_RETRY:
    case WEIR_REJECT:
    case WEIR_POSTPONE:
        if (message)
            (void)weir_settle(self, message, verdict);
        break;
    case WEIR_STOP:
        if (message)
            (void)weir_settle(self, message, WEIR_DONE);
        window->ending = WEIR_STOP;
        break;
    default: /* the message ends with the worker */
        window->ending = verdict;
        break;
    }
    if (window->ending == WEIR_KEEP)
        forget_what_it_said(self, proxy);
}

/* The process says what became of the message in hand. */
static int end_first(struct weir_self *self, struct proxy *proxy, struct channel_frame *frame)
{
    struct proxy_window *window = &proxy->window;
    bool is_untouched = frame->kind == DIALOGUE_UNTOUCHED;
    int verdict = is_untouched ? 0 : (int)(int64_t)unparcel_number(&frame->content);
    uint64_t worked_ns = is_untouched ? 0 : unparcel_number(&frame->content);

    if (!has_given(window) || frame->number != proxy->in_hand.number || frame->content.wrong)
        return WEIR_EINVALID;
    if (is_untouched && (!window->is_over || !proxy->in_hand.message))
        return WEIR_EINVALID;
    window->begin++;
    if (is_untouched) {
        put_back(self, proxy->in_hand.message);
    } else {
        window->ended++;
        window->worked_ns += worked_ns < RECALL_NS ? worked_ns : RECALL_NS + 1;
        settle(self, proxy, verdict);
    }
    proxy->in_hand = (struct proxy_message){ 0 };
    if (has_given(window))
        begin_first(proxy);
    return WEIR_OK;
}

/* --- the end of the process ------------------------------------------------------------------- */

/* Verdicts that the process wrote before its end count. */
static void read_last_verdicts(struct weir_self *self, struct proxy *proxy)
{
    struct channel_frame frame;
    bool goes_on = true;

    proxy->channel.look = NULL;
    proxy->channel.life = -1;
    while (goes_on && has_given(&proxy->window)) {
        proxy->channel.due_ns = 1; /* what is not there never comes */
        goes_on = channel_receive(&proxy->channel, &frame) == WEIR_OK &&
                  (frame.kind == DIALOGUE_RETURN || frame.kind == DIALOGUE_UNTOUCHED) &&
                  end_first(self, proxy, &frame) == WEIR_OK;
    }
}

/* What was passed on while it was in hand was begun. */
static bool was_begun(const struct proxy *proxy)
{
    return has_given(&proxy->window) &&
           (!proxy->in_hand.message || segment_begun(&proxy->channel.end) >= proxy->in_hand.number);
}

/* The process has ended, or must. Only the message that it has begun ends with the worker, and
 * behind one that was too late none does. */
static int fail(struct weir_self *self, struct proxy *proxy, int status)
{
    struct proxy_window *window = &proxy->window;
    uint64_t number = proxy->in_hand.number;
    char how[CALLBACKS_HOW_SIZE];
    bool blames;

    callbacks_kill(self, proxy, how);
    if (status == WEIR_EINVALID) {
        blames = has_given(window); /* nothing that it wrote is believed */
    } else {
        read_last_verdicts(self, proxy);
        blames = was_begun(proxy) && (status != WEIR_ETIMEOUT || proxy->in_hand.number == number);
    }
    callbacks_forget(proxy);
    if (blames)
        window->begin++;
    else
        proxy->in_hand = (struct proxy_message){ 0 };
    callbacks_say_why(self, proxy, blames ? DIALOGUE_HANDLE : 0, status, how);
    put_rest_back(self, window);
    return WEIR_FAIL;
}

/* --- flush ------------------------------------------------------------------------------------ */

/* Returns what `flush` of the stand-in returns. */
static int flush_plugin(struct weir_self *self, struct proxy *proxy)
{
    int flushed = WEIR_KEEP, status;

    parcel_clear(&proxy->out);
    status = callbacks_converse(self, proxy, DIALOGUE_FLUSH, &flushed);
    if (status != WEIR_OK) {
        callbacks_bury(self, proxy, DIALOGUE_FLUSH, status);
        return WEIR_FAIL;
    }
    if (flushed == WEIR_DONE)
        proxy->kept_count = 0;
    return flushed;
}

int window_flush(struct weir_self *self, void *state)
{
    struct proxy *proxy = state;
    struct proxy_window *window = &proxy->window;
    struct channel_frame frame = { 0 };
    int status = WEIR_OK;

    if (window_is_empty(proxy) || !proxy->runs)
        return WEIR_KEEP;
    while (status == WEIR_OK &&
           (has_given(window) || (!window->is_over && !window_is_empty(proxy)))) {
        status = give(self, proxy, true);
        if (status == WEIR_OK && has_given(window))
            status = callbacks_await(self, proxy, &frame);
        if (status == WEIR_OK && has_given(window))
            status = end_first(self, proxy, &frame);
    }
    if (status != WEIR_OK)
        return fail(self, proxy, status);
    put_rest_back(self, window);
    if (window->ending == WEIR_KEEP && proxy->isolated->options.behaviour->flush)
        window->ending = flush_plugin(self, proxy);
    if (proxy->runs)
        set_size(self, proxy);
    return window->ending;
}
