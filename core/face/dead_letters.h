/* SPDX-License-Identifier: MIT */
/*
 * face/dead_letters.h - the dead letters of a part: reading, deleting, sending again.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_DEAD_LETTERS_H
#define FACE_DEAD_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "face/figures.h"

#include <weir/message.h>

struct executor;
struct pool;
struct runtime;
struct standalone;
struct source;

#define DEAD_LETTER_HEAD 32           /* bytes of payload in a reading: a line of a dump */
#define DEAD_LETTER_DETAIL 240        /* a text of weir_reason, and the label of a message */
#define DEAD_LETTER_DIRECT UINT32_MAX /* not from an output */

/* The address for a replay. */
struct dead_letter_way {
    weir_pid to;     /* this actor, in the message's lane; 0: see `output` */
    uint32_t output; /* the target of this output; DEAD_LETTER_DIRECT: the pool itself */
    uint32_t table;  /* the number of the table of outputs that `output` belongs to */
    weir_pid led_to; /* the output's target at that time: used when the table has changed since */
    bool is_leased;  /* never sent again: it was sent under a lease, which is over */
};

struct dead_letter {
    uint64_t number; /* 1, 2, ... in the order of death */
    enum dead_reason reason;
    const struct weir_tag *tag; /* lives as long as the runtime; may be NULL */
    size_t size;
    bool whole; /* its payload was kept */
    weir_pid from;
    uint64_t key;
    struct dead_letter_way way;
    uint64_t record;  /* its number in the program's store; 0: none */
    uint64_t when_ns; /* runtime clock */
    uint16_t attempt;
    uint8_t kind; /* enum weir_kind */
    uint8_t lane;
    uint8_t label_size; /* bytes of the message's label, the end of `detail`; 0: none is known */
    char detail[DEAD_LETTER_DETAIL];
    unsigned char head[DEAD_LETTER_HEAD]; /* the first bytes of a payload that was kept */
};

struct dead_letters;
struct wiring_slot;

/* The dead letters of one part; valid while the part is. */
struct dead_letter_box {
    struct dead_letters *letters;
    struct wiring_slot *wiring; /* the targets of the part's outputs */
    /* receives dead letters that were sent to the part itself; 0: none, of a source */
    weir_pid target;
};
/* Called in a read section, except for sources and stand-alone actors. */
struct dead_letter_box pool_dead_letters(struct pool *pool);
struct dead_letter_box source_dead_letters(struct source *source);
struct dead_letter_box standalone_dead_letters(struct standalone *standalone);

/* Evicts dead letters beyond the new bounds at once. */
void dead_letters_set_bounds(struct dead_letters *letters,
                             const struct dead_letters_bounds *bounds);

/* Copies up to `max` dead letters, oldest first, without payload; returns their number. The second
 * form begins after number `number`. */
uint32_t dead_letters_read(struct dead_letters *letters, struct dead_letter *out, uint32_t max);
uint32_t dead_letters_read_after(struct dead_letters *letters, uint64_t number,
                                 struct dead_letter *out, uint32_t max);

/* Copies the payload of one dead letter; the caller frees the copy. WEIR_EUNKNOWN: no dead letter
 * has that number, WEIR_EUNSUPPORTED: its payload was not kept, WEIR_ENOMEM. */
int dead_letters_payload(struct dead_letters *letters, uint64_t number, unsigned char **out,
                         size_t *out_size);

/* Deletes one dead letter; false: none has that number. */
bool dead_letters_delete(struct dead_letters *letters, uint64_t number);
/* Deletes all dead letters; returns how many. */
uint32_t dead_letters_delete_all(struct dead_letters *letters);

/* The program has sent the message of a record of its store again: its dead letter leaves, counted
 * as sent again. False: none has that record. */
bool dead_letters_sent_again(struct dead_letters *letters, uint64_t record);

struct replay_result {
    uint32_t replayed;
    uint32_t left;   /* these are still dead letters */
    uint32_t unable; /* of these: can never be sent again */
    int status;      /* of the last refusal among the others; 0 = none */
};

/*
 * Sends each dead letter once, oldest first. A message that was sent to the part itself goes to the
 * box's target. A message that came from an output goes to the present target of that output, or to
 * its former target when the table of outputs has changed since. A message that becomes a dead
 * letter during the call is not sent. Called in a read section.
 */
void dead_letter_box_replay(struct runtime *runtime, struct executor *executor,
                            const struct dead_letter_box *box, struct replay_result *out);

#endif
