/* SPDX-License-Identifier: MIT */
/*
 * frame.h - the frames that exec.pipe and its child exchange: a line of words, then bytes.
 *
 *     to the child:   message SIZE ATTEMPT KEY TAG        the payload follows
 *                     request SIZE ATTEMPT KEY TAG        likewise; a reply is expected
 *     of the child:   ready 0            accepts a message; before the first one
 *                     out SIZE [KEY]     for the output; KEY is that of the message if not given
 *                     reply SIZE         for the requester
 *                     done 0, stop 0     the verdict; stop: the child ends then, and is replaced
 *                     retry SIZE MS      the verdict; the bytes are the reason
 *                     reject SIZE, fail SIZE    likewise
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

/* Bytes of the line of a frame, with its end: three numbers of 20 digits, a tag of 128 bytes. */
#define FRAME_LINE_MAX 256u

enum frame_kind {
    FRAME_READY,
    FRAME_OUT,
    FRAME_REPLY,
    FRAME_DONE,
    FRAME_STOP,
    FRAME_RETRY,
    FRAME_REJECT,
    FRAME_FAIL,
};

/* The line of a frame of the child. */
struct frame {
    enum frame_kind kind;
    uint64_t size;   /* bytes that follow */
    uint64_t number; /* OUT: the key, 0 = that of the message; RETRY: milliseconds */
};

/* Reads a line without its end. False: it is no line of a frame. Borrows. */
bool frame_read(const char *line, size_t size, struct frame *out_frame);

/* The frame with this word, `size` bytes, and a number, unless that is NULL. False: there is no
 * such frame. Borrows. */
bool frame_make(const char *word, size_t length, uint64_t size, const uint64_t *number,
                struct frame *out_frame);

/* Reads a decimal number of 64 bits. False: it is none. Borrows. */
bool frame_number(const char *text, size_t size, uint64_t *out_number);

/* Writes the line of a message with `size` bytes of payload, and its end. Returns its size; 0: the
 * tag has a line end. Borrows. */
size_t frame_write(char *to, size_t room, const struct weir_message *message, size_t size);

#endif
