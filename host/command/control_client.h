/* SPDX-License-Identifier: MIT */
/*
 * command/control_client.h - sends a command's request to a running host and prints the answer.
 *
 * The socket is the one of --control, else of $WEIR_CONTROL, else of `host.control` in --file. The
 * host writes the tables, so that a command and a host of different versions understand each other.
 */
#ifndef HOST_COMMAND_CONTROL_CLIENT_H
#define HOST_COMMAND_CONTROL_CLIENT_H

#include "host/command/command.h"
#include "host/command/exchange.h"

#define CONTROL_VARIABLE "WEIR_CONTROL"

/* The rows of its options, for the table of a command. */
#define CONTROL_CLIENT_OPTION_CONTROL                                                              \
    {                                                                                              \
        "control", 'c', "PATH", "the host's socket; else $" CONTROL_VARIABLE ", else the file's"   \
    }
#define CONTROL_CLIENT_OPTION_FILE                                                                 \
    {                                                                                              \
        "file", 'f', "FILE", "the file that the host runs, for its host.control"                   \
    }
#define CONTROL_CLIENT_OPTION_OUTPUT                                                               \
    {                                                                                              \
        "output", 'o', "FORMAT", "text or json"                                                    \
    }
#define CONTROL_CLIENT_OPTIONS                                                                     \
    CONTROL_CLIENT_OPTION_CONTROL, CONTROL_CLIENT_OPTION_FILE, CONTROL_CLIENT_OPTION_OUTPUT

/* The part of a command's help about exit codes. */
#define CONTROL_CLIENT_CODES                                                                       \
    "69 no host listens there; 75 the host is ending, stopped or busy; 77 it belongs to another\n" \
    "user.\n"

struct control_client {
    const struct invocation *invocation;
    const char *control;  /* NULL: not given */
    const char *file;     /* NULL: not given */
    const char *fallback; /* a file that may name the socket when neither is given; may be NULL */
    bool json;
};

/* Takes one of the client's options; for command_parse. */
int control_client_take(struct control_client *client, char letter, const char *argument);

/* As command_parse, for a command without further options. */
int control_client_parse(struct control_client *client, int *out_first);

/*
 * Sends a request; prints the answer to `out`, or the failure to `err`; returns an exit code.
 * `timeout_s` 0: waits as long as the host is alive, see exchange.h.
 */
int control_client_ask(const struct control_client *client, bool is_post, const char *target,
                       uint32_t timeout_s);

/* As control_client_ask, but returns the answer, which the caller finishes in every case; prints
 * failures only. */
int control_client_fetch(const struct control_client *client, bool is_post, const char *target,
                         uint32_t timeout_s, struct answer *out);

/* The path of the host's socket, owned by the caller. NULL: printed why, with the exit code. */
char *control_client_find(const struct control_client *client, int *out_code);

/*
 * Runs an exchange, whose `path` control_client_find gave, and returns the exit code that fits the
 * answer. Prints nothing when there is an answer. The caller finishes it in every case.
 */
int control_client_run(const struct control_client *client, const struct exchange *exchange,
                       struct answer *out);

/* Prints an untrusted text: control characters of a terminal are escaped. */
void control_client_print(const struct control_client *client, const char *text, size_t size,
                          FILE *stream);

/* `before`, the path of a pool and `after`, as part of a request. Owned; NULL: memory is out. */
char *control_client_target(const char *before, const char *path, const char *after);

/*
 * Requests `before`, the path of a pool and `after`, such as /pools/ images/fast /pause, and waits
 * CONTROL_CLIENT_TIMEOUT_S at most.
 */
int control_client_ask_of(const struct control_client *client, bool is_post, const char *before,
                          const char *path, const char *after);

#define CONTROL_CLIENT_TIMEOUT_S 10 /* as long as a host waits for a client */

#endif
