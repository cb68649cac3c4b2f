/* SPDX-License-Identifier: MIT */
/*
 * engine.h - lets libcurl work in the turns of one actor.
 *
 * libcurl's sockets are in an epoll set, and the actor watches the descriptor of that set; one
 * timer stands for libcurl's next time-out. The owner adds transfers and gets each one back when it
 * has ended.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <curl/curl.h>
#include <weir/plugin.h>

/* A transfer has ended and is out of the engine. True: it was set for another request, and is to be
 * started again. */
typedef bool engine_ended(struct weir_self *self, void *state, CURL *easy, CURLcode code);

/* libcurl is about to work, and to end what has reached its time-out. */
typedef void engine_before(struct weir_self *self, void *state);

struct engine {
    struct weir_self *self; /* of the present callback */
    CURLM *multi;           /* owned */
    int poller;             /* owned: the epoll set */
    bool is_watching;
    uint64_t timer; /* 0 = none */
    engine_ended *ended;
    engine_before *before;
};

/* In `open`. The engine is the first field of the state of its actor. Returns 0 or WEIR_ENOMEM;
 * then engine_close is still to be called. */
int engine_open(struct weir_self *self, struct engine *engine, engine_ended *ended,
                engine_before *before);
/* In `close`. The transfers have been removed. */
void engine_close(struct engine *engine);

/* Looks at libcurl's time-outs. To be called from time to time while there are transfers, in case
 * memory was out when a timer was to be armed. */
void engine_look(struct weir_self *self, struct engine *engine);

/* Starts a transfer. `ended` may be called before this returns. Returns 0 or WEIR_ENOMEM. */
int engine_add(struct weir_self *self, struct engine *engine, CURL *easy);
/* Ends a transfer without a call of `ended`. */
void engine_remove(struct weir_self *self, struct engine *engine, CURL *easy);

#endif
