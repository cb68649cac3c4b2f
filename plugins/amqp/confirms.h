/* SPDX-License-Identifier: MIT */
/*
 * confirms.h - the messages of a channel that the server has not confirmed yet.
 *
 * The server numbers the publishings of a channel 1, 2, ... and confirms them in any order, one by
 * one or all up to a number. An item is the caller's own number of a published message.
 *
 * A server that refuses a publishing for good closes the channel, and says neither which one it was
 * nor what became of those before it. So a publishing that may be refused, an unproven one, goes
 * alone: after the confirms of all others, and before any other. Then the culprit is known, and no
 * other message is published twice. When the channel is closed with several unconfirmed ones, each
 * of them goes alone the next time.
 */
#ifndef CONFIRMS_H
#define CONFIRMS_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed memory is legal for confirms_finish. */
struct confirms {
    uint32_t *items; /* owned: of the numbers first..next-1, at number % capacity */
    uint32_t capacity;
    uint64_t first;    /* the lowest number without a confirm */
    uint64_t next;     /* the number of the next publishing */
    bool is_alone;     /* the last publishing is unproven: nothing follows before its confirm */
    uint64_t suspects; /* the next ones go alone, proven or not */
};

/* Room for `capacity` numbers between the first one without a confirm and the last. WEIR_ENOMEM. */
int confirms_init(struct confirms *confirms, uint32_t capacity);
void confirms_finish(struct confirms *confirms);
/* Begins with a new channel: forgets all. */
void confirms_reset(struct confirms *confirms);

/* True when the next publishing may be written now. `is_proven`: the channel has confirmed one that
 * the server cannot tell from it when it refuses. */
bool confirms_has_room(const struct confirms *confirms, bool is_proven);
/* Notes the next publishing. Call only with room. */
void confirms_add(struct confirms *confirms, uint32_t item, bool is_proven);
/* How many are not confirmed. */
uint64_t confirms_count(const struct confirms *confirms);
/* The server has closed the channel because of one of those that are not confirmed: they go alone
 * after confirms_reset. */
void confirms_suspect_all(struct confirms *confirms);
/* True when all is confirmed. */
bool confirms_is_empty(const struct confirms *confirms);
/*
 * Takes one item that a confirm of `number` ends, the lowest first. With `multiple` it ends all up
 * to that number, and with number 0 all. False: there is none left.
 */
bool confirms_take(struct confirms *confirms, uint64_t number, bool multiple, uint32_t *out_item);

#endif
