/* SPDX-License-Identifier: MIT */
#include "../files/files.h"
#include "pipe_state.h"
#include <stdatomic.h>

/* Messages ahead of a child that announces no batch, and of one that settles them all within
 * QUICK_MS. */
#define SIZE_MAX_AHEAD 16u
#define SIZE_MAX_QUICK 256u
/* Larger payloads have a frame each: a child begins with a frame when it has all of it. */
#define PACKED_MAX 4096u
/* Bytes of a frame of many for each of them: its size, and a blank. */
#define PACKED_SIZE 21u
/* The next batch of a quick child waits in its pipe. */
#define BATCHES_AHEAD 2u
/* Payloads ahead, in bytes. */
#define BYTES_AHEAD ((uint64_t)64 * 1024)
#define BYTES_OF_BATCH ((uint64_t)1024 * 1024)
/* A verdict in this time lets the window grow. */
#define QUICK_MS 1u
/* Frames that gathered are written at once. */
#define FLUSH_BYTES ((size_t)32 * 1024)
/* Frames that gathered wait so long for more. */
#define FLUSH_MS 1u
/* A child that knows that its message is not wanted may finish it in this time. */
#define CANCEL_MS 1000u
/* Between two looks at the siblings; and while one is idle, since that ends soon. */
#define LOOK_MS 100u
#define LOOK_IDLE_MS 1u

#define CAREFUL_SHIFT 32u

/* --- the demand ------------------------------------------------------------------------------- */

static int set_demand(struct weir_self *self, struct pipe *state, uint32_t count)
{
    int status = weir_set_demand(self, count);

    if (status == 0)
        state->pace.demand = count;
    return status;
}

int pipe_take_nothing(struct weir_self *self, struct pipe *state)
{
    return set_demand(self, state, 0);
}

static void look_at_pool(struct weir_self *self, struct pipe *state)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct pipe_pace *pace = &state->pace;
    uint64_t now = weir_now_ms(self);
    uint32_t own = window_count(&state->window) == 0;

    if (pace->looked && now < pace->looked + (pace->has_idle_sibling ? LOOK_IDLE_MS : LOOK_MS))
        return;
    pace->looked = now;
    if (weir_pool_stats(self, weir_pool(self), &stats) != 0)
        return;
    pace->is_unbuffered = stats.limit == WEIR_UNBUFFERED;
    pace->has_idle_sibling = stats.idle > own;
}

static uint32_t size_now(struct weir_self *self, struct pipe *state)
{
    struct pipe_pace *pace = &state->pace;

    if (state->revision < 2 || pace->is_leased || pace->careful > 0 ||
        (pace->batch == 0 && pace->size == 1))
        return 1;
    look_at_pool(self, state);
    if (pace->is_unbuffered)
        return 1;
    /* A message that waits behind others could be handled by a sibling. */
    if (pace->has_idle_sibling)
        pace->size = 1;
    if (pace->batch == 0)
        return pace->size;
    return pace->size == 1 ? pace->batch : BATCHES_AHEAD * pace->batch;
}

static uint64_t bytes_max(const struct pipe *state)
{
    return state->pace.batch > 0 ? BYTES_OF_BATCH : BYTES_AHEAD;
}

static uint32_t demand_now(struct weir_self *self, struct pipe *state)
{
    uint32_t size = size_now(self, state), count;

    if (state->window.bytes >= bytes_max(state))
        size = given_count(&state->window.ahead);
    count = given_count(&state->window.kept) + size;
    return count < WINDOW_MAX ? count : WINDOW_MAX;
}

static void update_demand(struct weir_self *self, struct pipe *state)
{
    uint32_t demand;

    if (state->phase != PIPE_READY && state->phase != PIPE_BUSY)
        return;
    demand = demand_now(self, state);
    if (demand != state->pace.demand && set_demand(self, state, demand) != 0)
        pipe_stop(self, state, "no memory");
}

void pipe_open_window(struct weir_self *self, struct pipe *state)
{
    uint64_t index = (uint64_t)weir_index(self) + 1;
    /* Settings belong to the plugin, and this field to its workers. */
    struct pipe_settings *settings = (struct pipe_settings *)(uintptr_t)state->settings;
    uint64_t careful = atomic_load(&settings->careful);

    state->revision = frame_has(&state->frame, FRAME_REVISION)
                          ? (uint32_t)state->frame.fields[FRAME_REVISION]
                          : 1;
    state->pace.batch = (uint32_t)state->frame.fields[FRAME_BATCH_SIZE];
    state->pace.size = 1;
    if ((uint32_t)careful == index &&
        atomic_compare_exchange_strong(&settings->careful, &careful, 0))
        state->pace.careful = (uint32_t)(careful >> CAREFUL_SHIFT);
    update_demand(self, state);
}

void pipe_be_careful(struct weir_self *self, const struct pipe *state)
{
    struct pipe_settings *settings = (struct pipe_settings *)(uintptr_t)state->settings;
    uint64_t count = given_count(&state->window.ahead);

    if (count > state->pace.batch)
        count = state->pace.batch;
    if (count > 1)
        atomic_store(&settings->careful, count << CAREFUL_SHIFT | (weir_index(self) + 1));
}

/* After `ended` verdicts in `passed` ms. Beyond SIZE_MAX_AHEAD the window holds no more than the
 * child does in about QUICK_MS. */
static uint32_t next_size(const struct pipe_pace *pace, uint64_t passed)
{
    if (passed > (uint64_t)pace->ended * QUICK_MS)
        return 1;
    if (pace->size < SIZE_MAX_AHEAD ||
        (pace->ended >= pace->size && passed <= QUICK_MS && pace->size < SIZE_MAX_QUICK))
        return 2 * pace->size;
    return pace->size > SIZE_MAX_AHEAD && passed > 2 * QUICK_MS ? pace->size / 2 : pace->size;
}

void pipe_keep_pace(struct weir_self *self, struct pipe *state)
{
    struct pipe_pace *pace = &state->pace;
    uint64_t now;

    if (state->phase != PIPE_READY && state->phase != PIPE_BUSY)
        return;
    if (pace->ended > 0) {
        now = weir_now_ms(self);
        pace->size = next_size(pace, now - pace->began);
        pace->ended = 0;
        pace->began = now;
    }
    update_demand(self, state);
}

/* --- giving ----------------------------------------------------------------------------------- */

/* The first message ahead is in hand now. */
static void begin_message(struct weir_self *self, struct pipe *state)
{
    state->phase = PIPE_BUSY;
    state->answered = state->ticked = false;
    state->began = weir_now_ms(self);
    words_next(self, &state->peer.words, state->peer.child.process);
    pipe_set_deadline(self, state, state->settings->timeout);
    /* Without a deadline a timer that is set fires soon enough. */
    if (state->deadline || !state->timer)
        pipe_arm(self, state);
}

static void on_flush(struct weir_self *self, void *memory, void *context)
{
    struct pipe *state = memory;

    (void)context;
    state->flush = 0;
    if (pipe_listens(state) && state->phase != PIPE_CLOSING)
        pipe_send(self, state);
}

/* A child that has nothing gets its messages, or its batch, at once. */
static bool is_due(const struct pipe *state)
{
    uint32_t ahead = given_count(&state->window.ahead), batch = state->pace.batch;

    return (batch <= 1 ? ahead == state->gathered : state->gathered >= batch) ||
           window_count(&state->window) >= state->pace.demand ||
           outbox_waiting(&state->peer.outbox) + state->peer.outbox.reserved >= FLUSH_BYTES;
}

/* The message can share a frame with others of its tag, key and attempt. */
static bool is_packed(const struct pipe *state, const struct weir_message *message, size_t size)
{
    return state->revision >= FRAME_FIRST_WITH_MANY && !state->peer.outbox.is_json &&
           message->kind == WEIR_MESSAGE && size <= PACKED_MAX;
}

static bool is_alike(const struct weir_message *one, const struct weir_message *other)
{
    return one->tag == other->tag && one->key == other->key && one->attempt == other->attempt;
}

/* Messages from `row` on that a frame takes: the child begins none before it has all of it. */
static uint32_t run_of(const struct given *row, const struct given *end)
{
    uint64_t bytes = row->bytes;
    uint32_t count = 1;

    while (row + count < end && bytes < BYTES_AHEAD && is_alike(row->message, row[count].message))
        bytes += row[count++].bytes;
    return count;
}

/* A frame for `count` messages, for which there is room. */
static void frame_run(struct pipe *state, struct given *rows, uint32_t count)
{
    struct outbox *outbox = &state->peer.outbox;
    size_t size;

    outbox_put_head(outbox, rows, count);
    for (uint32_t i = 0; i < count; i++) {
        const char *payload = files_text(rows[i].message, state->line, &size);

        outbox_put_bytes(outbox, payload, size);
    }
    for (uint32_t i = 0; i < count; i++)
        rows[i].mark = outbox_mark(outbox);
}

void pipe_frame_all(struct pipe *state)
{
    struct given_list *ahead = &state->window.ahead;

    if (state->phase != PIPE_READY && state->phase != PIPE_BUSY)
        state->unframed = 0; /* the window has given them back, or is about to */
    while (state->unframed > 0) {
        struct given *end = ahead->rows + ahead->end, *rows = end - state->unframed;
        uint32_t count = run_of(rows, end);

        frame_run(state, rows, count);
        state->unframed -= count;
    }
    state->peer.outbox.reserved = 0;
}

void pipe_flush(struct weir_self *self, struct pipe *state)
{
    if (state->gathered == 0 || (state->phase != PIPE_READY && state->phase != PIPE_BUSY))
        return;
    if (is_due(state) ||
        (!state->flush && weir_after(self, FLUSH_MS, on_flush, NULL, &state->flush) != 0))
        pipe_send(self, state);
}

/* Its frame follows with pipe_frame_all. */
static int give_later(struct pipe *state, const struct weir_message *message, size_t size)
{
    if (!frame_can_write(message))
        return WEIR_EINVALID;
    if (!outbox_reserve(&state->peer.outbox, FRAME_LINE_MAX + PACKED_SIZE + size))
        return WEIR_ENOMEM;
    state->unframed++;
    return 0;
}

static int give_now(struct pipe *state, const struct weir_message *message, uint64_t id,
                    const char *payload, size_t size)
{
    pipe_frame_all(state);
    return outbox_put(&state->peer.outbox, message, state->revision > 1 ? id : 0, payload, size);
}

int pipe_give(struct weir_self *self, struct pipe *state, const struct weir_message *message)
{
    struct outbox *outbox = &state->peer.outbox;
    bool is_later;
    size_t size;
    const char *payload = files_text(message, state->line, &size);
    uint64_t id;
    int status;

    if (!window_reserve(&state->window, &id))
        return WEIR_ENOMEM;
    is_later = is_packed(state, message, size);
    status = is_later ? give_later(state, message, size)
                      : give_now(state, message, id, payload, size);
    if (status != 0)
        return status;
    window_add(&state->window, message, size, is_later ? UINT64_MAX : outbox_mark(outbox));
    if (given_count(&state->window.ahead) == 1) {
        state->pace.began = weir_now_ms(self);
        begin_message(self, state);
    }
    /* Bytes shorten the window, and so does a sibling that became idle since it grew. */
    if (given_count(&state->window.ahead) == 1 || state->window.bytes >= bytes_max(state) ||
        (state->pace.size > 1 && state->pace.batch == 0))
        update_demand(self, state);
    state->gathered++;
    return 0;
}

/* --- ending ----------------------------------------------------------------------------------- */

void pipe_settle(struct weir_self *self, struct pipe *state, const struct weir_message *message,
                 int verdict)
{
    state->worked = true;
    state->count_done += verdict == WEIR_DONE;
    state->count_refused += verdict != WEIR_DONE;
    (void)weir_settle(self, message, verdict);
}

/* The first message ahead has left the window. */
static void begin_next(struct weir_self *self, struct pipe *state)
{
    state->pace.ended++;
    state->pace.careful -= state->pace.careful > 0;
    state->answered = state->ticked = false;
    if (state->phase == PIPE_CLOSING)
        return;
    if (window_in_hand(&state->window)) {
        begin_message(self, state);
    } else {
        state->phase = PIPE_READY;
        pipe_set_deadline(self, state, 0);
    }
}

void pipe_end_message(struct weir_self *self, struct pipe *state, int verdict)
{
    const struct weir_message *message = window_take(&state->window);

    begin_next(self, state);
    pipe_settle(self, state, message, verdict);
}

void pipe_keep(struct weir_self *self, struct pipe *state, uint64_t id)
{
    bool is_in_hand = window_in_hand(&state->window)->id == id;

    if (!window_keep(&state->window, id))
        pipe_stop(self, state, "no memory");
    else if (is_in_hand)
        begin_next(self, state);
}

/* A message of another lane than the normal one cannot go back. */
static void put_back(struct weir_self *self, struct pipe *state, const struct weir_message *message)
{
    if (weir_put_back(self, message) != 0)
        pipe_settle(self, state, message, WEIR_RETRY);
}

void pipe_put_all_back(struct weir_self *self, struct pipe *state)
{
    const struct weir_message *message;

    while ((message = window_take_oldest(&state->window)))
        put_back(self, state, message);
}

void pipe_put_back(struct weir_self *self, struct pipe *state)
{
    const struct weir_message *message;

    state->window.written = state->peer.outbox.written;
    while ((message = window_take_innocent(&state->window)))
        put_back(self, state, message);
}

/* --- what is not wanted ----------------------------------------------------------------------- */

static void notify(struct weir_self *self, struct pipe *state, struct given *row)
{
    if (!row->cancelled && !weir_is_wanted(self, row->message) &&
        (state->revision < 2 || outbox_say(&state->peer.outbox, "cancel", row->id) == 0))
        row->cancelled = weir_now_ms(self) + 1;
}

static void notify_all(struct weir_self *self, struct pipe *state, struct given_list *list)
{
    for (uint32_t i = list->begin; i < list->end; i++)
        notify(self, state, &list->rows[i]);
}

/* The child has had its time since it knows, and while its frames are read. */
static bool goes_on(struct weir_self *self, const struct pipe *state, const struct given *row)
{
    uint64_t since = row->cancelled > state->began ? row->cancelled - 1 : state->began;

    return row->cancelled && !state->blocked && weir_now_ms(self) >= since + CANCEL_MS;
}

bool pipe_cancel(struct weir_self *self, struct pipe *state)
{
    const struct given *in_hand = window_in_hand(&state->window);

    pipe_frame_all(state);
    notify_all(self, state, &state->window.ahead);
    notify_all(self, state, &state->window.kept);
    if (state->revision < 2)
        return in_hand && in_hand->cancelled;
    if (outbox_waiting(&state->peer.outbox) > 0)
        pipe_send(self, state);
    return in_hand && state->pace.batch == 0 && state->phase == PIPE_BUSY &&
           goes_on(self, state, in_hand);
}
