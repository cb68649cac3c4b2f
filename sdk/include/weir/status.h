/* SPDX-License-Identifier: MIT */
/*
 * weir/status.h - results of calls into the host.
 *
 * 0 is success; every other status is one of these negative numbers. A number never changes its
 * meaning. New numbers are added at the end.
 */
#ifndef WEIR_STATUS_H
#define WEIR_STATUS_H

#include "inline.h"

/* number, name, sentence for people */
#define WEIR_STATUS_LIST(X)                                                                        \
    X(1, FULL, "no worker has room")                                                               \
    X(2, UNKNOWN, "no such actor, lease or reference")                                             \
    X(3, TERMINATED, "the actor has ended")                                                        \
    X(4, CLOSED, "the actor accepts nothing new")                                                  \
    X(5, INVALID, "an argument is not valid")                                                      \
    X(6, NOMEM, "out of memory")                                                                   \
    X(7, TIMEOUT, "the time is over")                                                              \
    X(8, CANCELLED, "cancelled by the requester")                                                  \
    X(9, CRASHED, "the worker failed while it had the message")                                    \
    X(10, REMOVED, "the worker was removed")                                                       \
    X(11, NOREPLY, "handled without a reply")                                                      \
    X(12, DEADLK, "waiting here would never end")                                                  \
    X(13, UNSUPPORTED, "not supported here")                                                       \
    X(14, NOTALLOWED, "not allowed in this state")                                                 \
    X(15, REJECTED, "the worker rejected the message")                                             \
    X(16, EXISTS, "the name is taken")                                                             \
    X(17, RUNNING, "the work has begun, and may go on")

enum weir_status {
    WEIR_OK = 0,
#define WEIR_STATUS_ENUM(number, name, text) WEIR_E##name = -(number),
    WEIR_STATUS_LIST(WEIR_STATUS_ENUM)
#undef WEIR_STATUS_ENUM
};

/* The name of a status, such as "FULL"; "OK" for 0; "?" for a number that is not a status. Static
 * text. */
WEIR_INLINE const char *weir_status_name(int status)
{
    switch (status) {
    case WEIR_OK:
        return "OK";
#define WEIR_STATUS_NAME(number, name, text)                                                       \
    case WEIR_E##name:                                                                             \
        return #name;
        WEIR_STATUS_LIST(WEIR_STATUS_NAME)
#undef WEIR_STATUS_NAME
    default:
        return "?";
    }
}

/* A status in words, for people. Static text. */
WEIR_INLINE const char *weir_status_text(int status)
{
    switch (status) {
    case WEIR_OK:
        return "success";
#define WEIR_STATUS_TEXT(number, name, text)                                                       \
    case WEIR_E##name:                                                                             \
        return text;
        WEIR_STATUS_LIST(WEIR_STATUS_TEXT)
#undef WEIR_STATUS_TEXT
    default:
        return "unknown status";
    }
}

#endif
