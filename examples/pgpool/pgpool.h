/* SPDX-License-Identifier: MIT */
/*
 * pgpool.h - what users of the pool and its connections send each other.
 */
#ifndef PGPOOL_H
#define PGPOOL_H

#include <weir/plugin.h>

/* A statement and its parameters $1, $2, ...: texts, each with its NUL. */
#define PGPOOL_QUERY_TAG "pgpool.query/1"
/* The reply: struct pgpool_result, then the text of each cell with its NUL, row by row. */
#define PGPOOL_RESULT_TAG "pgpool.result/1"
/* One transfer: struct pgpool_transfer. */
#define PGPOOL_TRANSFER_TAG "pgpool.transfer/1"

#define PGPOOL_PARAMETERS_MAX 16u

struct pgpool_result {
    uint32_t rows;
    uint32_t columns;
    uint64_t affected; /* rows that an INSERT, UPDATE or DELETE changed */
};

struct pgpool_transfer {
    uint64_t id;
    uint64_t amount;
    uint32_t source; /* accounts */
    uint32_t target;
};

/* Of pgpool_connection. The host fills them from a file; a program with libweir, itself. */
struct pgpool_connection_settings {
    const char *conninfo;
    const char *reset; /* run when a lease is over; "" = nothing */
    uint64_t result_max;
};

/* Writes the payload of a query to `out`, which has room for `room` bytes, and returns its size,
 * also when it is larger than `room`. */
size_t pgpool_pack(char *out, size_t room, const char *const *texts, uint32_t count);

/* A query as a message; `texts`: the statement, then its parameters. Returns owned; NULL: memory is
 * out. */
struct weir_message *pgpool_query(struct weir_self *self, const struct weir_tag *tag,
                                  const char *const *texts, uint32_t count);

/* Finds the texts in the payload of a query. Returns their count; 0: it is no query. */
uint32_t pgpool_unpack(const struct weir_message *message,
                       const char *out_texts[PGPOOL_PARAMETERS_MAX + 1]);

/* The text of a cell of a result; "" for NULL. Borrowed as the message is. */
const char *pgpool_cell(const struct weir_message *message, uint32_t row, uint32_t column);

extern const struct weir_behaviour pgpool_connection, pgpool_bank, pgpool_orders;

#endif
