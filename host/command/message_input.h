/* SPDX-License-Identifier: MIT */
/*
 * command/message_input.h - reads messages from standard input: one for each line, or one in all.
 *
 * A line ends with a line feed, which is not part of the message; the last line may have none. A
 * message has at most HTTP_BODY_MAX bytes.
 *
 * Life: message_input_init, message_input_finish. Not synchronised.
 */
#ifndef HOST_COMMAND_MESSAGE_INPUT_H
#define HOST_COMMAND_MESSAGE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message_input {
    int descriptor;
    char *bytes; /* owned */
    size_t size, capacity;
    bool ended;
    uint64_t lines; /* dropped so far */
};

void message_input_init(struct message_input *input, int descriptor);
void message_input_finish(struct message_input *input);

/* Reads until `bytes` begins with a whole line. `out_size` is the size of all whole lines there,
 * with their ends; 0: the input has ended. -E2BIG: the next line is too large; another negative
 * errno. */
int message_input_read(struct message_input *input, size_t *out_size);

/* Reads to the end. -E2BIG as above; another negative errno. */
int message_input_read_all(struct message_input *input);

/* The size of the first line, without its end. */
size_t message_input_line(const struct message_input *input);

/* Drops `count` lines from the front. */
void message_input_drop(struct message_input *input, uint64_t count);

#endif
