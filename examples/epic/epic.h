/* SPDX-License-Identifier: MIT */
/*
 * epic.h - the messages between requesters, the master and its workers.
 *
 * An Epic is a message of text, `NAME: QUERY`: a SELECT whose column `id` holds the numbers of the
 * pieces. The reply, a text, is sent when every piece is settled. A refused request is answered
 * with WEIR_EREJECTED; the detail begins with one of the reasons below.
 */
#ifndef EPIC_H
#define EPIC_H

#include <weir/plugin.h>

/* One piece of work: struct epic_piece. */
#define EPIC_PIECE_TAG "epic.piece/1"
/* The reply to an Epic: text without a NUL. */
#define EPIC_DONE_TAG "epic.done/1"

#define EPIC_CURRENTLY_BUSY "CurrentlyBusy"
#define EPIC_NO_WORKERS "NoWorkers"

struct epic_piece {
    int64_t id; /* of the document */
};

extern const struct weir_behaviour epic_master, epic_worker;

#endif
