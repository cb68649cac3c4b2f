/* SPDX-License-Identifier: MIT */
/*
 * queue.put - writes each message into a queue of a file, and is done when the disk has it.
 *
 * A message is kept until the hub has committed a copy. While nothing can be stored, or the queue
 * is full, the worker keeps what it has and takes no more than `window`, so its mailbox fills and
 * its senders find no room. It never ends for a fault of the store: what it keeps would be dead.
 */
#include <inttypes.h>
#include <string.h>

#include <openssl/evp.h>

#include "hub.h"

#define COPIES_MAX ((uint64_t)8 << 20) /* bytes of payload that wait, and one message */
#define REPORT_MS 1000u                /* between two looks at the figures */
#define SHORT_MS 100u                  /* without memory, before a message is tried again */
#define DIGEST_SHOWN 20u               /* bytes of a name: enough against any accident */
#define END_MS 1000u                   /* at the end, how long nothing is stored */

struct put {
    const struct queue_settings *settings; /* borrowed until close */
    struct client *client;                 /* owned */
    uint64_t waiting_bytes;
    uint32_t waiting;
    uint64_t stored, duplicates;
    bool is_leaving;
    uint64_t went_at; /* when it began to leave, or something was last stored since */
};

static void on_ready(struct weir_self *self, void *memory, void *context, int descriptor,
                     int readiness);

/* --- demand ----------------------------------------------------------------------------------- */

static void set_demand(struct weir_self *self, const struct put *state)
{
    bool takes = state->waiting_bytes < COPIES_MAX;

    (void)weir_set_demand(self, takes ? state->settings->window : 0);
}

/* --- what the hub says ------------------------------------------------------------------------ */

static void report(struct weir_self *self, struct put *state)
{
    struct client_figures figures;

    client_get_figures(state->client, &figures);
    client_log_trouble(state->client, self, &figures);
    weir_progress(self, "queue_length", figures.pieces, WEIR_GAUGE);
    weir_progress(self, "unstored", state->waiting, WEIR_GAUGE);
    weir_progress(self, "stored", state->stored, 0);
}

static void settle_all(struct weir_self *self, struct put *state, struct piece_list *pieces)
{
    struct piece *piece;

    while ((piece = piece_list_take(pieces)) != NULL) {
        bool is_dead = piece->end == PIECE_DEAD;

        state->waiting--;
        state->waiting_bytes -= piece->size;
        state->stored += is_dead || piece->is_duplicate ? 0 : 1;
        state->duplicates += piece->is_duplicate ? 1 : 0;
        if (is_dead)
            weir_reason(self, "%s", piece->detail);
        (void)weir_settle(self, piece->of, is_dead ? WEIR_REJECT : WEIR_DONE);
        piece_destroy(piece);
    }
    set_demand(self, state);
}

static void settle_stored(struct weir_self *self, struct put *state)
{
    struct piece_list stored = { NULL, NULL, 0, 0 };

    client_get_stored(state->client, &stored);
    if (stored.count > 0)
        state->went_at = weir_now_ms(self);
    settle_all(self, state, &stored);
}

static void report_again(struct weir_self *self, void *memory, void *context)
{
    (void)context;
    report(self, memory);
}

static int watch(struct weir_self *self, struct put *state)
{
    return weir_watch(self, client_descriptor(state->client), WEIR_READABLE, on_ready, NULL, NULL);
}

static void look_again(struct weir_self *self, void *memory, void *context)
{
    on_ready(self, memory, context, -1, WEIR_READABLE);
}

static void on_ready(struct weir_self *self, void *memory, void *context, int descriptor,
                     int readiness)
{
    struct put *state = memory;

    (void)context;
    (void)descriptor;
    (void)readiness;
    client_acknowledge(state->client);
    settle_stored(self, state);
    report(self, state);
    if (watch(self, state) != 0)
        (void)weir_after(self, SHORT_MS, look_again, NULL, NULL);
}

/* --- callbacks -------------------------------------------------------------------------------- */

static int put_open(struct weir_self *self, const void *settings, void *memory)
{
    struct put *state = memory;
    int status;

    state->settings = settings;
    status = client_join(self, settings, false, &state->client);
    if (status != 0)
        return status;
    set_demand(self, state);
    status = watch(self, state);
    if (status == 0)
        status = weir_every(self, REPORT_MS, report_again, NULL, NULL);
    if (status != 0)
        client_leave(state->client);
    return status;
}

/* False: memory is out. */
static bool name_by_content(struct piece *piece)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_well = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1 &&
                   EVP_DigestUpdate(context, piece->tag, strlen(piece->tag) + 1) == 1 &&
                   EVP_DigestUpdate(context, piece->bytes, piece->size) == 1 &&
                   EVP_DigestFinal_ex(context, digest, NULL) == 1;
    int length = snprintf(piece->name, sizeof piece->name, "content:");

    for (size_t i = 0; is_well && i < DIGEST_SHOWN; i++)
        length += snprintf(piece->name + length, sizeof piece->name - (size_t)length, "%02x",
                           digest[i]);
    EVP_MD_CTX_free(context);
    return is_well;
}

/* A key is no name: it is a hash that others can forge, and that of http.server is a path. */
static bool name(struct piece *piece, uint32_t id)
{
    return id == QUEUE_ID_RUN || name_by_content(piece);
}

static int put_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct put *state = memory;
    struct piece *piece;

    if (message->size > state->settings->piece_max) {
        weir_reason(self, "too_large: more than piece_max");
        return WEIR_REJECT;
    }
    piece = piece_copy(message);
    if (!piece || !name(piece, state->settings->id)) {
        piece_destroy(piece);
        weir_retry_after(self, SHORT_MS);
        return WEIR_POSTPONE;
    }
    state->waiting++;
    state->waiting_bytes += message->size;
    client_put(state->client, piece);
    set_demand(self, state);
    return WEIR_KEEP;
}

static void put_reconfigure(struct weir_self *self, void *memory, const void *settings)
{
    struct put *state = memory;

    state->settings = settings;
    client_reconfigure(state->client, settings);
    set_demand(self, state);
}

/* What is stored while the worker gives up is settled; the rest is dead. Whether a piece in
 * doubt is stored, nobody knows before the file can be used again: its dead letter names it. */
static int give_up(struct weir_self *self, struct put *state)
{
    struct piece_list doubtful = { NULL, NULL, 0, 0 };

    client_withdraw(state->client, &doubtful);
    settle_stored(self, state);
    settle_all(self, state, &doubtful);
    return WEIR_END;
}

static void look_while_leaving(struct weir_self *self, void *memory, void *context)
{
    (void)context;
    settle_stored(self, memory);
}

static int put_leave(struct weir_self *self, void *memory)
{
    struct put *state = memory;
    uint64_t now = weir_now_ms(self);

    if (state->waiting == 0)
        return WEIR_END;
    if (!state->is_leaving) {
        state->went_at = now;
        (void)weir_every(self, END_MS / 4, look_while_leaving, NULL, NULL);
    }
    state->is_leaving = true;
    return now - state->went_at < END_MS ? WEIR_WAIT : give_up(self, state);
}

static void put_close(struct weir_self *self, void *memory, int reason)
{
    struct put *state = memory;

    (void)self;
    (void)reason;
    client_leave(state->client);
}

static void put_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct put *state = memory;
    struct client_figures figures;

    (void)self;
    client_get_figures(state->client, &figures);
    weir_inspect_add(out, "queue_length", "%" PRIu64, figures.pieces);
    weir_inspect_add(out, "queue_bytes", "%" PRIu64, figures.bytes);
    weir_inspect_add(out, "unstored", "%" PRIu32, state->waiting);
    weir_inspect_add(out, "stored", "%" PRIu64, state->stored);
    weir_inspect_add(out, "duplicates", "%" PRIu64, state->duplicates);
    weir_inspect_add(out, "store", "%s",
                     figures.has_trouble ? "trouble"
                     : figures.is_full   ? "full"
                                         : "well");
    weir_inspect_add(out, "error", "%s", figures.has_trouble ? figures.trouble : "");
}

/* --- tables ----------------------------------------------------------------------------------- */

static void put_check(const void *memory, struct weir_report *report)
{
    const struct queue_settings *settings = memory;

    settings_check(settings, report);
    if (settings->piece_max > settings->bytes)
        weir_report_error(report, "piece_max", "must be at most `bytes`");
    if (settings->unique > 0 && settings->id == QUEUE_ID_RUN)
        weir_report_error(report, "unique", "needs `id: content`");
}

static const struct weir_option options[] = {
    SETTINGS_OF_BOTH,
    WEIR_OPTION_U32(struct queue_settings, window, .fallback = "1000", .min = 1, .max = WINDOW_MAX,
                    .live = true, .help = "messages that are not stored yet"),
    WEIR_OPTION_U32(struct queue_settings, limit, .fallback = "10000", .min = 1, .max = 1000000000,
                    .live = true, .help = "pieces of the queue, with dead ones"),
    WEIR_OPTION_SIZE(struct queue_settings, bytes, .fallback = "1GiB", .min = 1,
                     .max = (int64_t)1 << 50, .live = true,
                     .help = "of payload in the queue, with dead pieces"),
    WEIR_OPTION_SIZE(struct queue_settings, min_free, .fallback = "64MiB", .max = (int64_t)1 << 50,
                     .live = true,
                     .help = "that the file system keeps free: below it nothing is stored"),
    WEIR_OPTION_SIZE(struct queue_settings, piece_max, .fallback = "16MiB", .min = 1,
                     .max = 512 << 20, .live = true, .help = "a larger message is rejected"),
    WEIR_OPTION_ENUM(struct queue_settings, id, .fallback = "run", .choices = settings_ids,
                     .live = true, .help = "what names a piece: its put or its content"),
    WEIR_OPTION_DURATION(struct queue_settings, unique, .fallback = "0s", .max = 2592000000,
                         .live = true,
                         .help = "so long a second piece with the same id is done, not stored"),
    WEIR_OPTION_DURATION(struct queue_settings, after, .fallback = "0s", .max = 31536000000,
                         .live = true, .help = "a piece is taken so long after it was put"),
    WEIR_OPTION_I64(struct queue_settings, priority, .fallback = "0", .min = -1000, .max = 1000,
                    .live = true, .help = "higher ones are taken first, as if put earlier"),
    WEIR_OPTION_DURATION(struct queue_settings, aging, .fallback = "10s", .min = 1,
                         .max = 604800000, .live = true,
                         .help = "how much earlier, for each priority"),
    { 0 },
};

const struct weir_behaviour queue_put = {
    .name = "put",
    .summary = "writes messages into a queue on the disk, for queue.take",
    .options = options,
    .settings_size = sizeof(struct queue_settings),
    .state_size = sizeof(struct put),
    .flags = WEIR_BLOCKING | WEIR_EXCLUSIVE | WEIR_GIVES_UP,
    .in_hand = WINDOW_MAX,
    .check = put_check,
    .open = put_open,
    .handle = put_handle,
    .reconfigure = put_reconfigure,
    .close = put_close,
    .inspect = put_inspect,
    .leave = put_leave,
};
