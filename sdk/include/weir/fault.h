/* SPDX-License-Identifier: MIT */
/*
 * weir/fault.h - the meaning of an errno for the work of a plugin.
 *
 * Part of <weir/plugin.h>: include that. A failed call says something about its object (a file, a
 * program, a peer), or about the machine. What the machine lacks is no property of the object: a
 * file that cannot be opened for want of a descriptor is not missing, and a message whose command
 * cannot be started for want of a process is not wrong.
 *
 *  fault     | a message                    | a source                        | tell people
 * -----------+------------------------------+---------------------------------+--------------------
 *  SHORTAGE  | WEIR_POSTPONE                | goes on with what it has, tries | once
 *            |                              | again later                     |
 *  FULL      | WEIR_POSTPONE                | stops, tries again later        | once: make room
 *  BROKEN    | WEIR_RETRY, which is counted | passes the object by            | each object
 *  OTHER     | by what the call is about    | passes the object by            | each object
 */
#ifndef WEIR_FAULT_H
#define WEIR_FAULT_H

#include <errno.h>
#include <stdbool.h>

#include "inline.h"

enum weir_fault {
    WEIR_FAULT_OTHER = 0,    /* about the object of the call, or no error */
    WEIR_FAULT_SHORTAGE = 1, /* descriptors, memory, processes: other work will give some back */
    WEIR_FAULT_FULL = 2,     /* a disk or a quota is full */
    WEIR_FAULT_BROKEN = 3,   /* a device fails */
};

/*
 * The meaning of an errno. Any thread.
 *
 * EAGAIN is that of a call that makes something, such as a process or a thread. A read or a write
 * that has EAGAIN since it would block is no fault: wait for the descriptor (weir/watch.h).
 */
WEIR_INLINE enum weir_fault weir_fault_of(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case EAGAIN:
        return WEIR_FAULT_SHORTAGE;
    case ENOSPC:
    case EDQUOT:
        return WEIR_FAULT_FULL;
    case EIO:
        return WEIR_FAULT_BROKEN;
    default:
        return WEIR_FAULT_OTHER;
    }
}

/* True for SHORTAGE and FULL: what lacks something can be done later, and is innocent. */
WEIR_INLINE bool weir_is_short(int error)
{
    enum weir_fault fault = weir_fault_of(error);

    return fault == WEIR_FAULT_SHORTAGE || fault == WEIR_FAULT_FULL;
}

#endif
