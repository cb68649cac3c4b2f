/*
 * confirms.h - the messages of a channel that the server has not confirmed yet.
 *
 * The server numbers the publishings of a channel 1, 2, ... and confirms them in any order, one by
 * one or all up to a number. An item is the caller's own number of a published message.
 */
#ifndef CONFIRMS_H
#define CONFIRMS_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed memory is legal for confirms_finish. */
struct confirms {
    uint32_t *items; /* owned: of the numbers first..next-1, at number % capacity */
    uint32_t capacity;
    uint64_t first; /* the lowest number without a confirm */
    uint64_t next;  /* the number of the next publishing */
};

/* Room for `capacity` numbers between the first one without a confirm and the last. WEIR_ENOMEM. */
int confirms_init(struct confirms *confirms, uint32_t capacity);
void confirms_finish(struct confirms *confirms);
/* Begins with a new channel: forgets all. */
void confirms_reset(struct confirms *confirms);

bool confirms_has_room(const struct confirms *confirms);
/* Notes the next publishing. Call only with room. */
void confirms_add(struct confirms *confirms, uint32_t item);
/* Takes back the last confirms_add, which the channel did not send. */
void confirms_remove_last(struct confirms *confirms);
/* True when all is confirmed. */
bool confirms_is_empty(const struct confirms *confirms);
/*
 * Takes one item that a confirm of `number` ends, the lowest first. With `multiple` it ends all up
 * to that number, and with number 0 all. False: there is none left.
 */
bool confirms_take(struct confirms *confirms, uint64_t number, bool multiple, uint32_t *out_item);

#endif
