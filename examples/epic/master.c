/* SPDX-License-Identifier: MIT */
/*
 * The behaviour epic.master: a source that takes Epics, one at a time, and sends their pieces to
 * the workers as they become free. All state that must survive is in the database: see book.h.
 */
#include <inttypes.h>
#include <string.h>

#include "book.h"
#include "epic.h"

#define OUTPUT_OUT 0u
#define BATCH_MAX 256u
#define IN_HAND 16u /* requests that it keeps, and one that it answers at once */
#define SAVE_MS 1000u
#define REST_MS 100u /* before a piece that was lost on its way is sent again */

struct settings {
    const char *database;
    const char *name;
    uint64_t busy;
    uint32_t batch;
};

struct state {
    const struct settings *settings; /* borrowed until close */
    const struct weir_tag *piece;
    const struct weir_tag *done;
    struct book book;
    bool works;     /* there is an Epic in work */
    bool exhausted; /* its query gives no more */
    bool rests;
    struct epic epic;
    int64_t read; /* the last piece that its query gave */
    uint64_t saved_ms;
    struct window window;
    const struct weir_message *waiting[IN_HAND - 1]; /* requests for this Epic */
    uint32_t waiting_count;
};

/* --- the book --------------------------------------------------------------------------------- */

static int fail(struct weir_self *self, const struct state *state)
{
    weir_reason(self, "%s", book_error(&state->book));
    return WEIR_ECLOSED;
}

static void take_up(struct weir_self *self, struct state *state, const struct epic *epic)
{
    state->epic = *epic;
    state->read = epic->mark;
    state->works = true;
    state->exhausted = false;
    state->saved_ms = weir_now_ms(self);
    weir_log(self, WEIR_LOG_INFO, "epic", weir_str("name", epic->name),
             weir_uint("done", epic->done), weir_uint("failed", epic->failed));
}

static int master_open(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;
    struct epic epic;
    int found = -1, status;

    state->settings = settings;
    state->piece = weir_tag(self, EPIC_PIECE_TAG);
    state->done = weir_tag(self, EPIC_DONE_TAG);
    status = state->piece && state->done ? weir_name(self, state->settings->name) : WEIR_ENOMEM;
    if (status != 0)
        return status;
    if (book_init(&state->book, state->settings->database, state->settings->busy))
        found = book_find(&state->book, NULL, &epic);
    if (found < 0 || (found && !book_use(&state->book, &epic))) {
        status = fail(self, state);
        book_finish(&state->book);
        return status;
    }
    if (found)
        take_up(self, state, &epic);
    return 0;
}

/* Writes the settled pieces to the book. The next master sends the other pieces again. */
static void master_close(struct weir_self *self, void *memory, int reason)
{
    struct state *state = memory;
    uint32_t count = window_settled(&state->window);

    (void)reason;
    if (count > 0 && !book_move(&state->book, &state->epic, &state->window, count, false))
        weir_log(self, WEIR_LOG_WARNING, "mark not moved",
                 weir_str("reason", book_error(&state->book)));
    book_finish(&state->book);
}

/* --- Epics ------------------------------------------------------------------------------------ */

/* Splits `NAME: QUERY`. */
static bool parse(const struct weir_message *message, struct epic *out)
{
    const char *text = message->data;
    const char *colon = message->size ? memchr(text, ':', message->size) : NULL;
    size_t name = colon ? (size_t)(colon - text) : 0;
    size_t query = colon ? message->size - name - 1 : 0;

    *out = (struct epic){ 0 };
    if (name == 0 || name >= sizeof out->name || query == 0 || query >= sizeof out->query ||
        memchr(text, '\0', message->size))
        return false;
    memcpy(out->name, text, name);
    memcpy(out->query, colon + 1, query);
    return true;
}

static void reply(struct weir_self *self, const struct state *state, const struct epic *epic,
                  const struct weir_message *request)
{
    struct weir_message *message;
    char text[BOOK_NAME_MAX + 64];
    int size = snprintf(text, sizeof text, "%s: %" PRIu64 " done, %" PRIu64 " failed", epic->name,
                        epic->done, epic->failed);

    message = weir_message_new(self, state->done, (size_t)size);
    if (!message)
        return;
    memcpy(message->data, text, (size_t)size);
    if (weir_reply(self, request, message) != 0)
        weir_message_free(self, message); /* the request has ended */
}

static bool has_worker(struct weir_self *self)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    weir_pid pool;

    return weir_target(self, OUTPUT_OUT, &pool) == 0 && weir_pool_stats(self, pool, &stats) == 0 &&
           stats.live + stats.starting > 0;
}

/* The requester waits for the end; a message without a requester is settled now. */
static int keep(struct weir_self *self, struct state *state, const struct weir_message *message)
{
    if (message->kind != WEIR_REQUEST)
        return WEIR_DONE;
    if (state->waiting_count == IN_HAND - 1) {
        weir_reason(self, "too many wait for this Epic");
        return WEIR_REJECT;
    }
    state->waiting[state->waiting_count++] = message;
    return WEIR_KEEP;
}

static int begin(struct weir_self *self, struct state *state, struct epic *epic,
                 const struct weir_message *message)
{
    if (state->works) {
        weir_reason(self, EPIC_CURRENTLY_BUSY " with %s", state->epic.name);
        return WEIR_REJECT;
    }
    if (!has_worker(self)) {
        weir_reason(self, EPIC_NO_WORKERS);
        return WEIR_REJECT;
    }
    if (!book_use(&state->book, epic) || !book_begin(&state->book, epic)) {
        weir_reason(self, "%s", book_error(&state->book));
        return WEIR_REJECT;
    }
    take_up(self, state, epic);
    return keep(self, state, message);
}

/* An Epic that the book has: its requester waits with the others, or gets the reply at once. */
static int join(struct weir_self *self, struct state *state, const struct epic *known,
                const struct weir_message *message)
{
    if (!known->finished)
        return keep(self, state, message);
    if (message->kind == WEIR_REQUEST)
        reply(self, state, known, message);
    return WEIR_DONE;
}

static int master_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct state *state = memory;
    struct epic epic, known;
    int found;

    if (!parse(message, &epic)) {
        weir_reason(self, "an Epic is NAME: SELECT id FROM ...");
        return WEIR_REJECT;
    }
    found = book_find(&state->book, epic.name, &known);
    if (found == 0)
        return begin(self, state, &epic, message);
    if (found < 0)
        weir_reason(self, "%s", book_error(&state->book));
    else if (strcmp(known.query, epic.query) != 0)
        weir_reason(self, "another Epic has this name");
    else
        return join(self, state, &known, message);
    return WEIR_REJECT;
}

/* --- pieces ----------------------------------------------------------------------------------- */

/* Reads the next batch. False: the database failed. */
static bool refill(struct state *state)
{
    const uint32_t batch = state->settings->batch;
    int64_t ids[BATCH_MAX];
    int count;

    if (state->exhausted || window_room(&state->window) < batch)
        return true;
    count = book_next(&state->book, state->read, batch, ids);
    if (count < 0)
        return false;
    for (int i = 0; i < count; i++)
        window_add(&state->window, state->read = ids[i]);
    state->exhausted = (uint32_t)count < batch;
    return true;
}

static int send(struct weir_self *self, struct state *state, uint64_t place)
{
    struct piece *piece = window_at(&state->window, place);
    struct weir_message *message = weir_message_new(self, state->piece, sizeof(struct epic_piece));
    int status;

    if (!message)
        return WEIR_ENOMEM;
    ((struct epic_piece *)message->data)->id = piece->id;
    status = weir_set_origin(self, message, place);
    if (status == 0)
        status = weir_emit(self, OUTPUT_OUT, message);
    if (status != 0)
        weir_message_free(self, message);
    else
        piece->state = PIECE_SENT;
    return status;
}

/* Sends up to `credit` pieces. Returns their number, or a status. */
static int send_some(struct weir_self *self, struct state *state, uint32_t credit)
{
    uint32_t sent = 0;
    uint64_t place;

    while (sent < credit && !state->rests) {
        int status;

        if (!window_next(&state->window, &place)) {
            if (!refill(state))
                return fail(self, state);
            if (!window_next(&state->window, &place))
                break;
        }
        status = send(self, state, place);
        if (status == WEIR_EFULL)
            break;
        if (status != 0)
            return status;
        sent++;
    }
    return (int)sent;
}

static void finish(struct weir_self *self, struct state *state)
{
    for (uint32_t i = 0; i < state->waiting_count; i++) {
        reply(self, state, &state->epic, state->waiting[i]);
        (void)weir_settle(self, state->waiting[i], WEIR_DONE);
    }
    state->waiting_count = 0;
    state->works = false;
    weir_log(self, WEIR_LOG_INFO, "epic finished", weir_str("name", state->epic.name),
             weir_uint("done", state->epic.done), weir_uint("failed", state->epic.failed));
}

/* True when the last piece is settled. */
static bool is_over(struct state *state)
{
    return state->works && state->exhausted &&
           window_room(&state->window) + window_settled(&state->window) == WINDOW_SIZE;
}

/* Moves the mark: after a batch, after a second, and at the end. */
static bool save(struct weir_self *self, struct state *state)
{
    uint32_t count = window_settled(&state->window);
    uint64_t now_ms = weir_now_ms(self);
    bool over = is_over(state);

    if (!over &&
        (count == 0 || (count < state->settings->batch && now_ms - state->saved_ms < SAVE_MS)))
        return true;
    if (!book_move(&state->book, &state->epic, &state->window, count, over))
        return false;
    state->saved_ms = now_ms;
    weir_progress(self, "pieces", state->epic.done + state->epic.failed, 0);
    if (over)
        finish(self, state);
    return true;
}

static int master_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct state *state = memory;
    int sent;

    if (!state->works)
        return WEIR_WAIT;
    if (!save(self, state)) /* first: it makes room for a batch */
        return fail(self, state);
    sent = send_some(self, state, credit);
    if (sent < 0)
        return sent;
    if (is_over(state) && !save(self, state))
        return fail(self, state);
    return (uint32_t)sent == credit ? WEIR_MORE : WEIR_WAIT;
}

static void wake_up(struct weir_self *self, void *memory, void *context)
{
    struct state *state = memory;

    (void)self;
    (void)context;
    state->rests = false;
}

/* Only what a worker has rejected has failed. A piece that was lost with its worker, or on its way,
 * is sent again. */
static void master_settled(struct weir_self *self, void *memory, const struct weir_outcome *outcome)
{
    struct state *state = memory;
    struct piece *piece = window_at(&state->window, outcome->token);

    if (outcome->result == WEIR_OUTCOME_DONE) {
        piece->state = PIECE_DONE;
    } else if (outcome->result == WEIR_OUTCOME_DEAD && strcmp(outcome->reason, "rejected") == 0) {
        piece->state = PIECE_FAILED;
        (void)snprintf(piece->reason, sizeof piece->reason, "%s", outcome->detail);
    } else {
        window_again(&state->window, outcome->token);
        /* Without a timer the next outcome wakes the master. */
        if (!state->rests)
            state->rests = weir_after(self, REST_MS, wake_up, NULL, NULL) == 0;
    }
    /* Here, too, since `produce` waits for a worker, and the last one may have left. When it fails,
     * `produce` tries again. */
    if (is_over(state))
        (void)save(self, state);
}

/* The host ends, or a reload replaces the master: the Epic goes on later. */
static int master_leave(struct weir_self *self, void *memory)
{
    struct state *state = memory;

    for (uint32_t i = 0; i < state->waiting_count; i++) {
        weir_reason(self, "the master leaves; ask again later");
        (void)weir_settle(self, state->waiting[i], WEIR_REJECT);
    }
    state->waiting_count = 0;
    return WEIR_END;
}

static void master_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct state *state = memory;

    (void)self;
    weir_inspect_add(out, "epic", "%s", state->works ? state->epic.name : "");
    weir_inspect_add(out, "epic_done", "%" PRIu64, state->epic.done);
    weir_inspect_add(out, "epic_failed", "%" PRIu64, state->epic.failed);
    weir_inspect_add(out, "waiting", "%u", state->waiting_count);
}

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct settings, database, .help = "the file of SQLite; it exists",
                       .required = true),
    WEIR_OPTION_STRING(struct settings, name, .help = "by which other actors find the master",
                       .fallback = "epics"),
    WEIR_OPTION_U32(struct settings, batch, .help = "pieces that are read at once",
                    .fallback = "100", .min = 1, .max = BATCH_MAX),
    WEIR_OPTION_DURATION(struct settings, busy,
                         .help = "how long a statement waits for the lock of another one",
                         .fallback = "5s", .max = 3600000),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "the pieces" },
    { 0 },
};

const struct weir_behaviour epic_master = {
    .name = "master",
    .summary = "takes Epics, and sends their pieces to free workers",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct settings),
    .state_size = sizeof(struct state),
    .flags = WEIR_BLOCKING | WEIR_EXCLUSIVE | WEIR_ENDLESS | WEIR_KEYLESS | WEIR_ORIGINS,
    .in_hand = IN_HAND,
    .open = master_open,
    .handle = master_handle,
    .produce = master_produce,
    .close = master_close,
    .settled = master_settled,
    .inspect = master_inspect,
    .leave = master_leave,
};
