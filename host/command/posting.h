/* SPDX-License-Identifier: MIT */
/*
 * command/posting.h - posts messages to a pool of a running host: the common part of `weir send`
 * and `weir request`.
 *
 * A host that has no room says so at once; the client tries again (room_wait.h).
 *
 * Life: posting_begin, posting_finish, also when it did not return COMMAND_GO_ON.
 */
#ifndef HOST_COMMAND_POSTING_H
#define HOST_COMMAND_POSTING_H

#include "host/command/control_client.h"
#include "host/command/message_input.h"
#include "host/command/room_wait.h"

#define POSTING_LETTER_TIMEOUT 't'
#define POSTING_LETTER_TAG 'g'
#define POSTING_LETTER_KEY 'k'
#define POSTING_LETTER_WHOLE 'w'

/* The rows of its options. */
#define POSTING_OPTIONS                                                                            \
    CONTROL_CLIENT_OPTIONS,                                                                        \
        { "key", POSTING_LETTER_KEY, "TEXT", "messages with one key go to one worker" },           \
        { "tag", POSTING_LETTER_TAG, "NAME", "the kind of the messages, such as stdin.line/1" },   \
    {                                                                                              \
        "whole", POSTING_LETTER_WHOLE, NULL, "all of standard input is one message"                \
    }

/* The part of a help about the messages. */
#define POSTING_MESSAGES                                                                           \
    "Each MESSAGE is one message; without any, each line of standard input is one, without its\n"  \
    "line end. A message has at most 1 MiB.\n"

struct posting {
    struct control_client client;
    char *path; /* of the host's socket; owned */
    const char *pool;
    const char *tag, *key; /* NULL: none */
    uint64_t timeout_ms;   /* for room, or for room and reply */
    bool whole;
    struct room_wait wait; /* with the present message */
    struct message_input input;
    char **messages; /* of the command line, NULL after the last */
    uint32_t next;   /* of `messages` */
};

/* Parses the command line and finds the host. COMMAND_GO_ON or an exit code. */
int posting_begin(struct posting *posting, const struct invocation *invocation);
void posting_finish(struct posting *posting);

/* The messages of the next post. */
struct posting_batch {
    const char *bytes;
    size_t size;
    bool is_lines; /* several messages, one for each line */
};

/*
 * Reads the next messages: several when `many` allows it. COMMAND_GO_ON; EX_OK: there are no more;
 * or another exit code. The batch is borrowed until the next call.
 */
int posting_read(struct posting *posting, bool many, struct posting_batch *out);

/* Goes past `count` messages of the batch. */
void posting_advance(struct posting *posting, uint64_t count);

/* Posts a batch once: /pools/POOL/VERB?QUERY, with tag and key. `query` is not empty. Returns the
 * exit code for the answer, which the caller finishes in every case. */
int posting_post(const struct posting *posting, const char *verb, const char *query,
                 const struct posting_batch *batch, struct answer *out);

/* The value of a key in an answer in JSON, owned by the caller; NULL: there is none. */
char *posting_find(const struct answer *answer, const char *key);

/* Prints why an answer is a refusal, and of which message. */
void posting_print_refusal(const struct posting *posting, const struct answer *answer);

#endif
