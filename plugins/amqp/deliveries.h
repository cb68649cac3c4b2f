/* SPDX-License-Identifier: MIT */
/*
 * deliveries.h - the pieces of a consumer that are not settled at the server.
 *
 * A delivery waits for room in the pool (WAITING), is with a worker (SENT), or is put into another
 * queue before its acknowledgement: it waits for its turn (PUT_SOON), then for the confirm
 * (PUTTING); when the queue cannot take it yet, for a timer (PUT_LATER). When the connection is
 * lost, the server gives all of them to other consumers. Then a delivery that is with a worker
 * stays as an orphan, whose outcome changes nothing; the others are dropped.
 *
 *     WAITING -> SENT -> free
 *        |        |
 *        +--------+--> PUT_SOON -> PUTTING -> free
 *                         ^  |        |
 *                         |  v        v
 *                         PUT_LATER <-+
 */
#ifndef DELIVERIES_H
#define DELIVERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "envelope.h"

#define DELIVERY_NONE UINT32_MAX

enum delivery_state {
    DELIVERY_FREE,
    DELIVERY_WAITING,
    DELIVERY_SENT,
    DELIVERY_PUT_SOON,
    DELIVERY_PUTTING,
    DELIVERY_PUT_LATER,
};

/* Why a delivery is put into another queue, or back into its own. */
enum delivery_put {
    DELIVERY_RETRIED,  /* it comes back after its delay, as the next attempt */
    DELIVERY_BURIED,   /* a dead letter */
    DELIVERY_RETURNED, /* no worker has had it: as the same attempt */
};

struct delivery {
    uint64_t number; /* of the server, for acknowledgements; 0 = orphan */
    uint32_t state;  /* enum delivery_state */
    uint32_t next;
    uint32_t older, newer; /* in the order of the numbers; not of orphans */
    uint32_t queue;        /* index of the queue that it came from */
    struct envelope envelope;
    const struct weir_tag *tag; /* NULL: not yet known */
    char *bytes; /* owned: the properties as the server sent them, then the payload */
    size_t properties_size;
    size_t size; /* of the payload */

    /* of PUT_SOON, PUTTING and PUT_LATER */
    uint32_t put;      /* enum delivery_put */
    uint32_t attempt;  /* the next one; not of a dead letter */
    uint64_t delay_ms; /* of a retry */
    char reason[32];   /* of a dead letter */
    char detail[64];
};

struct deliveries {
    struct delivery *items; /* owned */
    uint32_t capacity;
    uint32_t free_first;
    uint32_t oldest, newest;                 /* with a number */
    uint32_t counts[DELIVERY_PUT_LATER + 1]; /* by state */
};

/* A line of deliveries that wait. */
struct delivery_line {
    uint32_t first, last; /* DELIVERY_NONE = empty */
};

/* WEIR_ENOMEM. */
int deliveries_init(struct deliveries *deliveries, uint32_t capacity);
void deliveries_finish(struct deliveries *deliveries);
/* A new delivery, WAITING in no line, with room for both sizes; its number is higher than those of
 * the others. DELIVERY_NONE: none is free, or memory is out. */
uint32_t deliveries_add(struct deliveries *deliveries, uint64_t number, size_t properties_size,
                        size_t size);
void deliveries_remove(struct deliveries *deliveries, uint32_t index);
void deliveries_move(struct deliveries *deliveries, uint32_t index, enum delivery_state state);
/* Those that the server has not seen settled. */
uint32_t deliveries_unsettled(const struct deliveries *deliveries);
/* The lowest number of those; UINT64_MAX: there is none. */
uint64_t deliveries_lowest(const struct deliveries *deliveries);
/* The connection is lost. The caller empties its lines. */
void deliveries_orphan(struct deliveries *deliveries);

void delivery_line_append(struct deliveries *deliveries, struct delivery_line *line,
                          uint32_t index);
void delivery_line_prepend(struct deliveries *deliveries, struct delivery_line *line,
                           uint32_t index);
uint32_t delivery_line_take(struct deliveries *deliveries, struct delivery_line *line);

#endif
