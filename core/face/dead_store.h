/* SPDX-License-Identifier: MIT */
/*
 * face/dead_store.h - where the program stores dead letters, so that they outlive the process.
 *
 * The runtime appends each dead letter. When a dead message has an origin (actor/origin.h), the
 * origin is notified only after the program has called runtime_stored for its record.
 *
 * A part of weir_core.h, through which the host includes it.
 */
#ifndef FACE_DEAD_STORE_H
#define FACE_DEAD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/message.h>

struct runtime;

#define DEAD_RECORD_NAME_MAX 127 /* bytes of `from` and `to` */

/*
 * The upper 16 bits of a record's number name a stream. The records of one stream end in the order
 * of their numbers; no stream waits for another.
 */
#define DEAD_STORE_STREAM_SHIFT 48
#define DEAD_STORE_STREAMS_MAX 65536u

/* A dead letter. All texts are borrowed during the call, and "" when they are not known. */
struct dead_record {
    const char *path; /* of the pool, the source or the actor whose message it was */
    /* The pool or source that receives the message when it is sent again; "": it was for one worker
     * alone, and cannot be sent again from the store. */
    const char *to;
    const char *from;   /* a name of the sender */
    const char *reason; /* "rejected", ... */
    const char *detail;
    const char *tag;
    weir_pid from_pid; /* 0: no actor */
    uint64_t key;
    uint16_t attempt;
    uint8_t kind; /* enum weir_kind */
    uint8_t lane;
    const void *payload; /* NULL: it has no meaning outside the process */
    size_t size;         /* bytes of payload */
};

struct dead_store {
    void *context;
    /*
     * Appends a record. Any thread; never waits for a disk. Returns the number of the record, which
     * is the next one of its stream. 0: the dead letter is not stored. With `is_awaited` an origin
     * waits for it: it is appended also when the store is full. NULL: there is no store.
     */
    uint64_t (*append)(void *context, const struct dead_record *record, bool is_awaited);
    /* True while workers of the pool `path` whose dead letters are awaited should take no further
     * message. */
    bool (*is_full)(void *context, const char *path);
    /* The message of record `number` was accepted again, by a replay. Any thread; never waits for a
     * disk. May be NULL. */
    void (*sent_again)(void *context, uint64_t number);
};

/*
 * From the store: all records of the number's stream up to `number` are safe; or, with `is_stored`
 * false, those that were not safe before are given up. Any thread outside, which is not in a read
 * section; before runtime_stop. WEIR_ENOMEM: origins that wait for these records are not notified
 * yet; call again.
 */
int runtime_stored(struct runtime *runtime, uint64_t number, bool is_stored);

#endif
