/* SPDX-License-Identifier: MIT */
/*
 * face/turns.h - turns that take too long, and the callback in which a thread crashed.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_TURNS_H
#define FACE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "face/runtime.h"

struct executor;
struct long_turns;
struct pool;

/* One turn of one thread: no two turns have the same values. */
struct turn_at {
    uint32_t dispatcher; /* its number */
    uint32_t thread;
    uint64_t turns; /* of the thread, up to this one */
};

/* A turn that was found. */
struct long_turn {
    struct dispatcher *dispatcher;
    char name[DISPATCHER_NAME_MAX]; /* of the dispatcher */
    struct turn_at at;
    int32_t kernel_id;   /* of the thread: its number in the kernel; 0: not known */
    uint64_t watched_ns; /* observed duration; too short by up to the time between two checks */
};

/* Makes a record of the observed turns, for one thread. WEIR_ENOMEM. Returns owned. */
int long_turns_create(struct runtime *runtime, struct long_turns **out);
/* NULL is allowed. */
void long_turns_destroy(struct long_turns *turns);

/*
 * Looks at the threads of the dispatchers, but not of the one called `unwatched` (may be NULL), for
 * a turn of `limit_ns` or more that was not found before. False: there is none.
 */
bool long_turns_look(struct long_turns *turns, const char *unwatched, uint64_t now_ns,
                     uint64_t limit_ns, struct long_turn *out);

/* Whether a turn lasted at the last look that was not reported yet. */
bool long_turns_last(const struct long_turns *turns);

/* Sends a signal with a value to the thread of that turn. Never waits. False: not now; a check
 * finds the turn again. */
bool long_turns_signal(struct long_turns *turns, const struct long_turn *turn, int number,
                       void *value);

/* The turn in which worker number `index` of a pool is inside a callback now; it may be a leaving
 * worker. `pid`: of several with this number; 0: the member, or else one that leaves. False: it is
 * in none. Any thread. */
bool pool_find_turn(struct pool *pool, uint32_t index, weir_pid pid, struct turn_at *out);

/*
 * Leaves worker number `index` of a pool behind, which is inside `handle` in that turn: what it has
 * in hand is dead `stuck`, its calls have no effect from now on, and a new worker with its number
 * gets what waits, and opens. WEIR_EUNKNOWN: it is no member; WEIR_ENOTALLOWED: `out_why` has the
 * reason, a static text; WEIR_ENOMEM: nothing has happened. From outside, in a read section.
 */
int pool_leave_behind(struct pool *pool, uint32_t index, const struct turn_at *at,
                      struct executor *executor, const char **out_why);

/*
 * The state of a behaviour whose `state_size` is 0: Linux maps nothing there (vm.mmap_min_addr), so
 * each use of it is a fault at one of these addresses, which a crash handler recognises.
 */
#define NO_STATE_BEGIN ((uintptr_t)0x1000)
#define NO_STATE_END ((uintptr_t)0x10000)

/* The worker of a turn. Texts are borrowed, on the thread itself, while the turn lasts. */
struct turn_note {
    const char *path;
    const char *plugin;
    const char *callback; /* such as `handle`; static; NULL: not known */
    const char *tag;      /* of the message in hand; NULL: none */
    uint32_t generation;
    uint32_t worker;
};
/*
 * Calls `read` with the worker of that turn, while its thread is held in the callback; for a thread
 * that takes no signal. `read` copies what it needs, at once. False, without a call: the turn is
 * over, or its thread is in no callback now. Any thread, outside a read section.
 */
bool long_turns_read(const struct long_turn *turn,
                     void (*read)(void *context, const struct turn_note *note), void *context);

/* Of the thread of that executor, in its signal handler. False: no behaviour runs there. */
bool executor_read_turn(const struct executor *executor, struct turn_note *out);

struct note;
struct vault_chunk;

/* Keeps the note of a thread's callback on pages that a plugin cannot overwrite by running past the
 * end of its memory. Used on the thread of the executor. */
struct callback_watch {
    struct executor *executor;
    struct note *note; /* NULL: memory was out */
    const struct vault_chunk *names;
};
void callback_watch_begin(struct callback_watch *watch, struct executor *executor);
void callback_watch_end(struct callback_watch *watch);

/* The callback that runs, or that ran last. Any text may be NULL. */
struct callback_note {
    const char *place; /* the path of the pool or source */
    const char *code;  /* plugin, generation and behaviour */
    const char *tag;   /* of the message in hand */
    uint32_t worker;
    uint64_t identity;       /* of the message in hand; 0: none, or not kept */
    const char *callback;    /* as above */
    bool inside;             /* the callback has not returned */
    uint32_t attempt;        /* of the message; 0: not known, as its memory was overwritten */
    char message_label[190]; /* "" likewise, and without one */
};
/* In a signal handler on the thread. False: nothing is known. */
bool callback_watch_read(const struct callback_watch *watch, struct callback_note *out);

#endif
