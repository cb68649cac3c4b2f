/* SPDX-License-Identifier: MIT */
/*
 * The behaviour epic.worker: writes the fingerprint of a document, by which near copies of a text
 * are found: those with few different bits (Charikar's simhash, over words).
 */
#include <inttypes.h>
#include <string.h>

#include "database.h"
#include "epic.h"

#define BITS 64

struct settings {
    const char *database;
    uint64_t busy;
};

struct state {
    const struct weir_tag *piece;
    sqlite3 *database;
    sqlite3_stmt *read, *write;
    uint64_t documents;
};

/* The reason of a failure. The host opens another connection, and the master sends the piece
 * again. */
static int fail(struct weir_self *self, const struct state *state)
{
    weir_reason(self, "%s", database_error(state->database));
    return WEIR_FAIL;
}

static void worker_close(struct weir_self *self, void *memory, int reason)
{
    struct state *state = memory;

    (void)self;
    (void)reason;
    (void)sqlite3_finalize(state->read);
    (void)sqlite3_finalize(state->write);
    database_close(state->database);
}

static int worker_open(struct weir_self *self, const void *memory_of_settings, void *memory)
{
    const struct settings *settings = memory_of_settings;
    struct state *state = memory;

    state->piece = weir_tag(self, EPIC_PIECE_TAG);
    if (!state->piece)
        return WEIR_ENOMEM;
    if (database_open(&state->database, settings->database, settings->busy)) {
        state->read = database_prepare(state->database, "SELECT text FROM documents WHERE id = ?1");
        state->write = database_prepare(state->database,
                                        "INSERT OR REPLACE INTO fingerprints VALUES (?1, ?2)");
    }
    if (state->read && state->write)
        return 0;
    (void)fail(self, state);
    worker_close(self, state, WEIR_END_CRASH);
    return WEIR_ECLOSED;
}

static void add_word(int32_t sums[BITS], const char *word, size_t size)
{
    uint64_t hash = weir_key(word, size);

    for (int i = 0; i < BITS; i++)
        sums[i] += hash >> i & 1 ? 1 : -1;
}

/* False: the text has no words. */
static bool take_fingerprint(const char *text, uint64_t *out)
{
    int32_t sums[BITS] = { 0 };
    bool any = false;

    *out = 0;
    for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
        size_t size = strcspn(text, " \n");

        add_word(sums, text, size);
        text += size;
        any = true;
    }
    for (int i = 0; i < BITS; i++)
        *out |= (uint64_t)(sums[i] > 0) << i;
    return any;
}

static bool write_fingerprint(struct state *state, int64_t id, uint64_t fingerprint)
{
    (void)sqlite3_bind_int64(state->write, 1, id);
    (void)sqlite3_bind_int64(state->write, 2, (int64_t)fingerprint);
    return database_run(state->write);
}

/* Computes the fingerprint of a document. Returns WEIR_DONE, or the verdict with its reason. */
static int read_document(struct weir_self *self, struct state *state, int64_t id, uint64_t *out)
{
    int step, verdict = WEIR_REJECT;
    const char *text = NULL;

    (void)sqlite3_bind_int64(state->read, 1, id);
    step = sqlite3_step(state->read);
    if (step == SQLITE_ROW)
        text = (const char *)sqlite3_column_text(state->read, 0);
    if (step == SQLITE_DONE)
        weir_reason(self, "no document %" PRIi64, id);
    else if (!text)
        verdict = fail(self, state);
    else if (!take_fingerprint(text, out))
        weir_reason(self, "no words");
    else
        verdict = WEIR_DONE;
    /* Before the write: SQLite lets no reader wait for the lock of a writer. */
    (void)sqlite3_reset(state->read);
    return verdict;
}

static int worker_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct state *state = memory;
    uint64_t fingerprint = 0;
    int64_t id;
    int verdict;

    if (message->tag != state->piece || message->size != sizeof(struct epic_piece)) {
        weir_reason(self, "not a piece");
        return WEIR_REJECT;
    }
    id = ((const struct epic_piece *)message->data)->id;
    verdict = read_document(self, state, id, &fingerprint);
    if (verdict != WEIR_DONE)
        return verdict;
    if (!write_fingerprint(state, id, fingerprint))
        return fail(self, state);
    weir_progress(self, "documents", ++state->documents, 0);
    return WEIR_DONE;
}

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct settings, database,
                       .help = "the file of SQLite, with tables `documents` and `fingerprints`",
                       .required = true),
    WEIR_OPTION_DURATION(struct settings, busy,
                         .help = "how long a statement waits for the lock of another one",
                         .fallback = "5s", .max = 3600000),
    { 0 },
};

const struct weir_behaviour epic_worker = {
    .name = "worker",
    .summary = "writes the fingerprint of a document",
    .options = options,
    .settings_size = sizeof(struct settings),
    .state_size = sizeof(struct state),
    .flags = WEIR_BLOCKING,
    .open = worker_open,
    .handle = worker_handle,
    .close = worker_close,
};
