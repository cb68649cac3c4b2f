/* SPDX-License-Identifier: MIT */
/*
 * envelope.h - what travels beside the payload: tag, key, attempt, layout and id (amqp_headers.h).
 */
#ifndef ENVELOPE_H
#define ENVELOPE_H

#include <amqp.h>
#include <stdbool.h>
#include <stdint.h>

#define ENVELOPE_ID_MAX 64u
#define ENVELOPE_TAG_MAX 128u

struct envelope {
    char tag[ENVELOPE_TAG_MAX + 1]; /* AMQP_BYTES_TAG when there is none */
    char layout[16];                /* "" = none */
    char id[ENVELOPE_ID_MAX + 1];   /* cut */
    uint64_t key;                   /* never 0 when the piece has a key or an id */
    uint32_t attempt;               /* 1 = the first */
};

/* The properties of a publishing. `properties` points into the struct and into what was given. */
struct envelope_sent {
    amqp_basic_properties_t properties;
    amqp_table_entry_t entries[4];
};

/* Reads the properties of a delivery. */
void envelope_read(const amqp_basic_properties_t *properties, struct envelope *out);
/*
 * Why a worker here cannot have the piece: its structs have another layout, or `tags` do not name
 * its tag. NULL: it can. `tags` of no items name all tags. Writes the reason to `out`.
 */
const char *envelope_mismatch(const struct envelope *envelope, const char *const *tags,
                              size_t tag_count, char *out, size_t size);

/* Makes the properties of a piece. Borrows tag (may be NULL) and id as long as they are used. */
void envelope_write(struct envelope_sent *out, const char *tag, uint64_t key, uint32_t attempt,
                    const char *id);

/* The properties that change when a delivery is published again. NULL = absent. Borrows texts. */
struct envelope_change {
    uint32_t attempt;       /* 0 = as it was */
    const char *expiration; /* milliseconds, as text */
    const char *reason;
    const char *detail;
    const char *host;
};

/*
 * Makes the properties for publishing a delivery again: those of the delivery, without the headers
 * that the server counts, and with those of `change`. Allocates from the pool. False: out of
 * memory.
 */
bool envelope_change(amqp_basic_properties_t *properties, const struct envelope_change *change,
                     amqp_pool_t *pool);

#endif
