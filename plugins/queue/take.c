/* SPDX-License-Identifier: MIT */
/*
 * queue.take - a source whose messages are the pieces of a queue of a file, the oldest first.
 *
 * A piece stays in the file until its message and all that joined it are done. What is not settled
 * when the host ends is there for the next one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weir/printable.h>

#include "hub.h"

#define OUTPUT_OUT 0u
#define REPORT_MS 1000u   /* between two looks at the figures */
#define REST_MS 100u      /* after a piece that no worker had; doubles */
#define REST_DOUBLINGS 6u /* to 6.4 s */
#define SHORT_MS 250u     /* between two tries to get memory */
#define LABEL_MAX 1024u   /* the host keeps less of it */

struct take {
    const struct queue_settings *settings; /* borrowed until close */
    struct client *client;                 /* owned */
    struct piece_list waiting;             /* owned: not emitted */
    struct piece *sent[WINDOW_MAX];        /* owned, without payload; the index is the token */
    uint16_t unused[WINDOW_MAX];           /* indices of `sent` */
    uint32_t sent_count;
    char tag_name[PIECE_TAG_SIZE]; /* of the last piece */
    const struct weir_tag *tag;
    bool looks_again;
    uint64_t rests_until; /* 0 = it does not rest */
    uint32_t rests;       /* in a row */
    bool is_leaving;
    uint64_t taken, removed, retried, buried;
};

static void on_ready(struct weir_self *self, void *memory, void *context, int descriptor,
                     int readiness);

/* --- what the hub says ------------------------------------------------------------------------ */

static void report(struct weir_self *self, struct take *state)
{
    struct client_figures figures;

    client_get_figures(state->client, &figures);
    client_log_trouble(state->client, self, &figures);
    weir_progress(self, "queue_length", figures.pieces, WEIR_GAUGE);
    weir_progress(self, "unsettled", state->sent_count, WEIR_GAUGE);
    weir_progress(self, "taken", state->taken, 0);
    weir_progress(self, "removed", state->removed, 0);
}

static void report_again(struct weir_self *self, void *memory, void *context)
{
    (void)context;
    report(self, memory);
}

static int watch(struct weir_self *self, struct take *state)
{
    return weir_watch(self, client_descriptor(state->client), WEIR_READABLE, on_ready, NULL, NULL);
}

static void watch_again(struct weir_self *self, void *memory, void *context)
{
    on_ready(self, memory, context, -1, WEIR_READABLE);
}

/* The host calls `produce` after it. */
static void on_ready(struct weir_self *self, void *memory, void *context, int descriptor,
                     int readiness)
{
    struct take *state = memory;

    (void)context;
    (void)descriptor;
    (void)readiness;
    client_acknowledge(state->client);
    report(self, state);
    if (watch(self, state) != 0)
        (void)weir_after(self, SHORT_MS, watch_again, NULL, NULL);
}

/* --- opening and closing ---------------------------------------------------------------------- */

static int take_open(struct weir_self *self, const void *settings, void *memory)
{
    struct take *state = memory;
    int status;

    state->settings = settings;
    for (uint32_t i = 0; i < WINDOW_MAX; i++)
        state->unused[i] = (uint16_t)i;
    status = client_join(self, settings, true, &state->client);
    if (status != 0)
        return status;
    status = watch(self, state);
    if (status == 0)
        status = weir_every(self, REPORT_MS, report_again, NULL, NULL);
    if (status != 0)
        client_leave(state->client);
    return status;
}

static void take_reconfigure(struct weir_self *self, void *memory, const void *settings)
{
    struct take *state = memory;

    (void)self;
    state->settings = settings;
    client_reconfigure(state->client, settings);
}

static void take_close(struct weir_self *self, void *memory, int reason)
{
    struct take *state = memory;

    (void)self;
    (void)reason;
    client_leave(state->client);
    piece_list_free(&state->waiting);
    for (uint32_t i = 0; i < WINDOW_MAX; i++)
        piece_destroy(state->sent[i]);
}

/* --- emitting --------------------------------------------------------------------------------- */

static const struct weir_tag *tag_of(struct weir_self *self, struct take *state,
                                     const struct piece *piece)
{
    if (!state->tag || strcmp(state->tag_name, piece->tag) != 0) {
        state->tag = weir_tag(self, piece->tag);
        (void)snprintf(state->tag_name, sizeof state->tag_name, "%s", piece->tag);
    }
    return state->tag;
}

/* The label says where the piece is: a dead letter of this host has it. */
static struct weir_message *make_message(struct weir_self *self, struct take *state,
                                         const struct piece *piece)
{
    const struct weir_tag *tag = piece->tag[0] ? tag_of(self, state, piece) : NULL;
    char label[LABEL_MAX];

    if (piece->tag[0] && !tag)
        return NULL;
    (void)snprintf(label, sizeof label, "piece %s of queue %s in %s", piece->name,
                   state->settings->queue, state->settings->file);
    weir_printable_replace(label, strlen(label));
    return weir_message_new_labelled(self, tag, piece->size, label);
}

/* A replay makes another piece of it, which has crashed no host yet. */
static void identify(struct weir_self *self, struct weir_message *message,
                     const struct piece *piece)
{
    char text[PIECE_NAME_SIZE + 16];
    int size = snprintf(text, sizeof text, piece->replays ? "%s %u" : "%s", piece->name,
                        (unsigned)piece->replays);

    (void)weir_set_identity(self, message, text, (size_t)size);
}

static int emit(struct weir_self *self, struct take *state, const struct piece *piece)
{
    struct weir_message *message = make_message(self, state, piece);
    int status = message ? 0 : WEIR_ENOMEM;

    if (status == 0) {
        message->key = piece->key ? piece->key : weir_key(piece->name, strlen(piece->name));
        message->attempt = (uint16_t)(piece->attempt < UINT16_MAX ? piece->attempt : UINT16_MAX);
        if (piece->size > 0)
            memcpy(message->data, piece->bytes, piece->size);
        identify(self, message, piece);
        status = weir_set_origin(self, message, state->unused[state->sent_count]);
    }
    if (status == 0)
        status = weir_emit(self, OUTPUT_OUT, message);
    if (status != 0)
        weir_message_free(self, message);
    return status;
}

/* Makes a piece dead that no worker gets. The caller has set its detail. Takes the piece. */
static void bury(struct weir_self *self, struct take *state, struct piece *piece,
                 const char *reason)
{
    piece->end = PIECE_DEAD;
    (void)snprintf(piece->reason, sizeof piece->reason, "%s", reason);
    weir_log(self, WEIR_LOG_ERROR, "piece is dead, and no worker had it",
             weir_str("queue", state->settings->queue), weir_str("piece", piece->name),
             weir_uint("bytes", piece->size), weir_str("reason", reason),
             weir_str("detail", piece->detail));
    state->buried++;
    client_settle(state->client, piece);
}

/* A struct of another layout is no message of a worker here. */
static bool is_mismatch(struct piece *piece)
{
    if (!piece->tag[0] || piece->layout == PIECE_LAYOUT)
        return false;
    (void)snprintf(piece->detail, sizeof piece->detail, "layout %x, here %x",
                   (unsigned)piece->layout, (unsigned)PIECE_LAYOUT);
    return true;
}

static void look_again(struct weir_self *self, void *memory, void *context)
{
    struct take *state = memory;

    (void)self;
    (void)context;
    state->looks_again = false; /* after a timer the host calls `produce` */
}

/* Keeps the piece in front of the others, or makes it dead when it never fits. That others have the
 * memory says nothing about the piece. */
static void keep(struct weir_self *self, struct take *state, struct piece *piece, int status)
{
    struct piece_list front = { NULL, NULL, 0, 0 };

    if (status == WEIR_ENOMEM && !weir_message_fits(self, piece->size)) {
        (void)snprintf(piece->detail, sizeof piece->detail, "larger than host.memory");
        bury(self, state, piece, "too_large");
    } else {
        piece_list_append(&front, piece);
        piece_list_prepend_all(&state->waiting, &front);
    }
    if (status == WEIR_ENOMEM && !state->looks_again)
        state->looks_again = weir_after(self, SHORT_MS, look_again, NULL, NULL) == 0;
}

static int take_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct take *state = memory;

    if (weir_now_ms(self) < state->rests_until)
        return WEIR_WAIT;
    while (credit > 0) {
        struct piece *piece;
        int status;

        if (!state->waiting.first)
            client_get_taken(state->client, &state->waiting);
        piece = piece_list_take(&state->waiting);
        if (!piece)
            return WEIR_WAIT;
        if (is_mismatch(piece)) {
            bury(self, state, piece, "mismatch");
            continue;
        }
        status = emit(self, state, piece);
        if (status != 0) {
            keep(self, state, piece, status);
            return status == WEIR_EFULL || status == WEIR_ENOMEM ? WEIR_WAIT : status;
        }
        state->sent[state->unused[state->sent_count++]] = piece_shrink(piece);
        state->taken++;
        credit--;
    }
    return WEIR_MORE;
}

/* --- outcomes --------------------------------------------------------------------------------- */

/* The first wait is `backoff`; each further attempt doubles it. */
static uint64_t wait_of(const struct take *state, const struct weir_outcome *outcome)
{
    uint64_t wait = state->settings->backoff;

    if (outcome->delay_ms > 0)
        return outcome->delay_ms;
    for (uint32_t i = 1; i < outcome->attempt && wait < state->settings->backoff_max; i++)
        wait *= 2;
    return wait < state->settings->backoff_max ? wait : state->settings->backoff_max;
}

static void end_rest(struct weir_self *self, void *memory, void *context);

/* A piece has come back that no worker had, since the pool is stopped or has no target. While that
 * lasts, a source without a rest would take its pieces in a loop. */
static void rest(struct weir_self *self, struct take *state, const char *reason)
{
    uint32_t doublings = state->rests < REST_DOUBLINGS ? state->rests : REST_DOUBLINGS;
    uint64_t wait = (uint64_t)REST_MS << doublings, now = weir_now_ms(self);

    if (state->is_leaving || now < state->rests_until ||
        weir_after(self, wait, end_rest, NULL, NULL) != 0)
        return;
    if (state->rests == 1)
        weir_log(self, WEIR_LOG_WARNING, "pieces come back; the source rests between them",
                 weir_str("reason", reason));
    state->rests++;
    state->rests_until = now + wait;
}

static void end_rest(struct weir_self *self, void *memory, void *context)
{
    struct take *state = memory;

    (void)self;
    (void)context;
    state->rests_until = 0; /* after a timer the host calls `produce` */
}

static void note_dead(struct weir_self *self, struct take *state, struct piece *piece,
                      const struct weir_outcome *outcome, const char *reason)
{
    piece->end = PIECE_DEAD;
    piece->attempt = outcome->attempt;
    (void)snprintf(piece->reason, sizeof piece->reason, "%s", reason);
    (void)snprintf(piece->detail, sizeof piece->detail, "%s", outcome->detail);
    weir_log(self, WEIR_LOG_WARNING, "piece is dead", weir_str("queue", state->settings->queue),
             weir_str("piece", piece->name), weir_uint("attempt", outcome->attempt),
             weir_str("reason", reason), weir_str("detail", outcome->detail));
    state->buried++;
}

static void note_end(struct weir_self *self, struct take *state, struct piece *piece,
                     const struct weir_outcome *outcome)
{
    bool is_last = outcome->attempt >= state->settings->attempts;

    if (outcome->result == WEIR_OUTCOME_DONE) {
        piece->end = PIECE_DONE;
        state->removed++;
    } else if (outcome->result == WEIR_OUTCOME_RETRY && !is_last) {
        piece->end = PIECE_RETRIED;
        piece->attempt = outcome->attempt + 1;
        piece->delay_ms = wait_of(state, outcome);
        state->retried++;
    } else if (outcome->result == WEIR_OUTCOME_RETRY) {
        note_dead(self, state, piece, outcome, "attempts");
    } else if (weir_outcome_is_final(outcome)) {
        note_dead(self, state, piece, outcome, outcome->reason);
    } else {
        piece->end = PIECE_RETURNED;
        rest(self, state, outcome->reason);
    }
}

static void take_settled(struct weir_self *self, void *memory, const struct weir_outcome *outcome)
{
    struct take *state = memory;
    uint32_t index = (uint32_t)outcome->token;
    struct piece *piece = state->sent[index];

    state->sent[index] = NULL;
    state->unused[--state->sent_count] = (uint16_t)index;
    note_end(self, state, piece, outcome);
    if (piece->end != PIECE_RETURNED)
        state->rests = 0;
    client_settle(state->client, piece);
}

/* Takes nothing new: what no worker has had is ready for the next source. */
static int take_leave(struct weir_self *self, void *memory)
{
    struct take *state = memory;
    struct piece *piece;

    (void)self;
    if (!state->is_leaving) {
        client_stop(state->client);
        while ((piece = piece_list_take(&state->waiting)) != NULL) {
            piece->end = PIECE_RETURNED;
            client_settle(state->client, piece);
        }
    }
    state->is_leaving = true;
    return WEIR_END;
}

static void take_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct take *state = memory;
    struct client_figures figures;

    (void)self;
    client_get_figures(state->client, &figures);
    weir_inspect_add(out, "queue_length", "%" PRIu64, figures.pieces);
    weir_inspect_add(out, "queue_bytes", "%" PRIu64, figures.bytes);
    weir_inspect_add(out, "waiting", "%" PRIu32, state->waiting.count + figures.waiting);
    weir_inspect_add(out, "unsettled", "%" PRIu32, state->sent_count);
    weir_inspect_add(out, "taken", "%" PRIu64, state->taken);
    weir_inspect_add(out, "removed", "%" PRIu64, state->removed);
    weir_inspect_add(out, "retried", "%" PRIu64, state->retried);
    weir_inspect_add(out, "buried", "%" PRIu64, state->buried);
    weir_inspect_add(out, "store", "%s", figures.has_trouble ? "trouble" : "well");
    weir_inspect_add(out, "error", "%s", figures.has_trouble ? figures.trouble : "");
}

/* --- tables ----------------------------------------------------------------------------------- */

static void take_check(const void *memory, struct weir_report *report)
{
    const struct queue_settings *settings = memory;

    settings_check(settings, report);
    if (settings->backoff_max < settings->backoff)
        weir_report_error(report, "backoff_max", "must be at least `backoff`");
}

static const struct weir_option options[] = {
    SETTINGS_OF_BOTH,
    WEIR_OPTION_U32(struct queue_settings, window, .fallback = "100", .min = 1, .max = WINDOW_MAX,
                    .live = true, .help = "pieces that are taken and not settled"),
    WEIR_OPTION_U32(struct queue_settings, attempts, .fallback = "21", .min = 1, .max = 65535,
                    .live = true,
                    .help = "after the last one a piece that asks for a retry is dead"),
    WEIR_OPTION_DURATION(struct queue_settings, backoff, .fallback = "1s", .max = 86400000,
                         .live = true,
                         .help = "before the second attempt, when the worker names no delay"),
    WEIR_OPTION_DURATION(struct queue_settings, backoff_max, .fallback = "1h", .max = 604800000,
                         .live = true, .help = "at most; each attempt doubles the wait"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each piece, with the tag of the message that was put" },
    { 0 },
};

const struct weir_behaviour queue_take = {
    .name = "take",
    .summary = "the pieces of a queue on the disk, as the pool has room for them",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct queue_settings),
    .state_size = sizeof(struct take),
    .flags = WEIR_BLOCKING | WEIR_EXCLUSIVE | WEIR_ENDLESS | WEIR_ORIGINS,
    .check = take_check,
    .open = take_open,
    .produce = take_produce,
    .reconfigure = take_reconfigure,
    .close = take_close,
    .settled = take_settled,
    .leave = take_leave,
    .inspect = take_inspect,
};
