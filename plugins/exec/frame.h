/* SPDX-License-Identifier: MIT */
/*
 * frame.h - the frames that exec.pipe and its child exchange: a line of words, then bytes.
 *
 *     to the child:   message SIZE [ID] ATTEMPT KEY TAG   the payload follows
 *                     request SIZE [ID] ATTEMPT KEY TAG   likewise; a reply is expected
 *                     cancel 0 ID, tick 0, close 0        of revision 2, as the IDs
 *                     messages SIZE ID ATTEMPT KEY TAG    of revision 3: a line of sizes, and the
 *                                                         payloads; IDs count up
 *     of the child:   ready 0 [REVISION [BATCH]]          accepts messages; before the first one
 *                     out SIZE [KEY [ID]]                 for the output
 *                     reply SIZE [ID]                     for the requester
 *                     done 0                              the verdict
 *                     retry SIZE MS, reject SIZE          likewise; the bytes are the reason
 *                     fail SIZE [ID]                      likewise; ID 0: of no message
 *                     stop 0                              the child ends; in revision 1 also done
 *                     batch 0 COUNT                       done, for the next COUNT messages
 *                     keep 0 ID, settle SIZE ID VERDICT [MS]
 *                     log SIZE LEVEL, label SIZE, to SIZE, inspect SIZE
 *                     result SIZE                         of revision 3: out, and done
 *
 * Words are separated by one blank, numbers are decimal and have 64 bits, the line ends with LF. A
 * tag is the last word, because it may have blanks.
 */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/message.h>

/* Bytes of the line of a frame, with its end: four numbers of 20 digits, a tag of 128 bytes. */
#define FRAME_LINE_MAX 256u
#define FRAME_REVISION_MAX 3u
#define FRAME_FIRST_WITH_MANY 3u /* the first revision with `messages` */

enum frame_kind {
    FRAME_READY,
    FRAME_OUT,
    FRAME_REPLY,
    FRAME_DONE,
    FRAME_STOP,
    FRAME_RETRY,
    FRAME_REJECT,
    FRAME_FAIL,
    FRAME_FIRST_OF_2, /* this and what follows are frames of revision 2 */
    FRAME_BATCH = FRAME_FIRST_OF_2,
    FRAME_KEEP,
    FRAME_SETTLE,
    FRAME_LOG,
    FRAME_LABEL,
    FRAME_INSPECT,
    FRAME_TO,
    FRAME_RESULT, /* of revision 3 */
};

/* What a frame may have beside its kind and its size. */
enum frame_field {
    FRAME_KEY,
    FRAME_ID,
    FRAME_MS,
    FRAME_COUNT,
    FRAME_REVISION,
    FRAME_BATCH_SIZE,
    FRAME_LEVEL,   /* enum weir_log_level */
    FRAME_VERDICT, /* enum weir_verdict */
    FRAME_FIELDS,
};

/* A word of a line, or a member of an object; borrowed. */
struct frame_word {
    const char *at; /* NULL = not given */
    size_t size;
};

/* The line of a frame of the child. */
struct frame {
    enum frame_kind kind;
    uint64_t size;                 /* bytes that follow */
    uint64_t fields[FRAME_FIELDS]; /* 0 = not given */
    uint32_t given;                /* bits of enum frame_field */
};

static inline bool frame_has(const struct frame *frame, enum frame_field field)
{
    return frame->given & (1u << field);
}

/* Reads a line without its end. False: it is no line of a frame. Borrows. */
bool frame_read(const char *line, size_t size, struct frame *out_frame);

/* The frame with this word, `size` bytes, and these fields (FRAME_FIELDS words). False: there is no
 * such frame. Borrows. */
bool frame_make(const struct frame_word *word, uint64_t size, const struct frame_word *fields,
                struct frame *out_frame);

/* False: the line of such a message cannot be written. */
bool frame_can_write(const struct weir_message *message);
/* Writes the line of a message with `size` bytes of payload, and its end. `id`: 0 = revision 1.
 * Returns its size; 0: the tag has a line end. Borrows. */
size_t frame_write(char *to, size_t room, const struct weir_message *message, uint64_t id,
                   size_t size);
/* Writes the line of many messages with the tag, key and attempt of the first, likewise. */
size_t frame_write_many(char *to, size_t room, const struct weir_message *first, uint64_t id,
                        size_t size);
/* Writes a number, of at most 20 digits, and a blank. Returns the end. */
char *frame_write_number(char *to, uint64_t number);

#endif
