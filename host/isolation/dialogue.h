/* SPDX-License-Identifier: MIT */
/*
 * isolation/dialogue.h - what the host and the process of an isolated worker say to each other.
 *
 * The host gives a callback: a frame with its arguments. Until the process says DIALOGUE_RETURN, it
 * may make calls into its host, one at a time: a frame with the arguments, to which the host
 * answers with a frame that begins with a status. Messages have numbers, which the host counts.
 *
 * Of DIALOGUE_HANDLE the host may give several ahead, and nothing else meanwhile. The process
 * carries them out in order, each with a DIALOGUE_RETURN that has the number of the message, and
 * the nanoseconds that it took behind the verdict. It answers DIALOGUE_UNTOUCHED for those that it
 * does not begin: for those that the host has recalled, and for those behind a message after which
 * the host must decide, up to the first one of the next window.
 */
#ifndef HOST_ISOLATION_DIALOGUE_H
#define HOST_ISOLATION_DIALOGUE_H

#include <stdbool.h>

#include <weir/plugin.h>

/* Descriptors of the process. */
#define DIALOGUE_BELL 3
#define DIALOGUE_SEGMENT 4
#define DIALOGUE_LIFELINE 5
#define DIALOGUE_IMAGE 6 /* the file of the plugin */
#define DIALOGUE_FIRST_FREE 7

#define WORKER_COMMAND "worker"

/* A longer payload passes in neither direction. */
#define DIALOGUE_PAYLOAD_MAX ((size_t)256 << 20)
/* Messages of one process at a time, but for those that it keeps. */
#define DIALOGUE_WINDOW_MAX 64u
/* A message with a longer payload has the process for itself. */
#define DIALOGUE_AHEAD_MAX ((size_t)32 << 10)
/* Different tags of messages from one process: the host keeps each name until it ends. */
#define DIALOGUE_TAGS_MAX 1024u

/* Behind such a verdict the host decides what comes next: about messages that come again first,
 * about the end of the worker, about how many it may keep. */
static inline bool dialogue_host_decides(int verdict)
{
    return verdict != WEIR_DONE && verdict != WEIR_RETRY && verdict != WEIR_REJECT;
}

enum dialogue_callback {
    DIALOGUE_OPEN = 1,
    DIALOGUE_HANDLE, /* whether it is the first one of a window, and the message */
    DIALOGUE_RECONFIGURE,
    DIALOGUE_CLOSE,
    DIALOGUE_INSPECT,
    DIALOGUE_REOPEN,
    DIALOGUE_LEAVE,
    DIALOGUE_TICK,
    DIALOGUE_THEN,
    DIALOGUE_FLUSH,
    DIALOGUE_ANSWER, /* of the host, to a call */
};

/* Of a callback, for people. */
static inline const char *dialogue_name(int callback)
{
    static const char *const names[] = {
        [0] = "none",
        [DIALOGUE_OPEN] = "open",
        [DIALOGUE_HANDLE] = "handle",
        [DIALOGUE_RECONFIGURE] = "reconfigure",
        [DIALOGUE_CLOSE] = "close",
        [DIALOGUE_INSPECT] = "inspect",
        [DIALOGUE_REOPEN] = "reopen",
        [DIALOGUE_LEAVE] = "leave",
        [DIALOGUE_TICK] = "timer",
        [DIALOGUE_THEN] = "continuation",
        [DIALOGUE_FLUSH] = "flush",
    };

    return names[callback];
}

/* Calls that the host carries out, each by a function serve_NAME. */
#define DIALOGUE_CALL_LIST(X)                                                                      \
    X(SEND, send)                                                                                  \
    X(LOOKUP, lookup)                                                                              \
    X(EMIT, emit)                                                                                  \
    X(REQUEST, request)                                                                            \
    X(CANCEL, cancel)                                                                              \
    X(REPLY, reply)                                                                                \
    X(FORWARD, forward)                                                                            \
    X(SETTLE, settle)                                                                              \
    X(RETRY_AFTER, retry_after)                                                                    \
    X(REASON, reason)                                                                              \
    X(SEND_AFTER, send_after)                                                                      \
    X(AFTER, after)                                                                                \
    X(CANCEL_TIMER, cancel_timer)                                                                  \
    X(LINK, link)                                                                                  \
    X(MONITOR, monitor)                                                                            \
    X(DEMONITOR, demonitor)                                                                        \
    X(TRAP_EXITS, trap_exits)                                                                      \
    X(EXIT, exit)                                                                                  \
    X(NAME, name)                                                                                  \
    X(RENAME, rename)                                                                              \
    X(POOL_RESIZE, pool_resize)                                                                    \
    X(POOL_STATS, pool_stats)                                                                      \
    X(POOL_MEMBERS, pool_members)                                                                  \
    X(POOL_PAUSE, pool_pause)                                                                      \
    X(POOL_SIZE, pool_size)                                                                        \
    X(LOG, log)                                                                                    \
    X(PROGRESS, progress)                                                                          \
    X(PROGRESS_TEXT, progress_text)                                                                \
    X(EXIT_STATUS, exit_status)                                                                    \
    X(PRINT, print)                                                                                \
    X(STASH, stash)                                                                                \
    X(UNSTASH, unstash)                                                                            \
    X(PUT_BACK, put_back)                                                                          \
    X(TIME_LEFT, time_left)                                                                        \
    X(SET_DEMAND, set_demand)                                                                      \
    X(MESSAGE_FITS, message_fits)                                                                  \
    X(TARGET, target)                                                                              \
    X(PARENT, parent)                                                                              \
    X(INSPECT_WANTS, inspect_wants)                                                                \
    X(INSPECT_ADD, inspect_add)

enum dialogue_call {
    DIALOGUE_UNTOUCHED = 99, /* of DIALOGUE_HANDLE: the message was not begun */
    DIALOGUE_RETURN = 100,   /* of a callback: its result */
#define DIALOGUE_CALL_NUMBER(name, function) DIALOGUE_##name,
    DIALOGUE_CALL_LIST(DIALOGUE_CALL_NUMBER)
#undef DIALOGUE_CALL_NUMBER
        DIALOGUE_CALL_END,
};

#endif
