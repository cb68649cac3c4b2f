/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define SCARCE_MS 100u /* before another try to watch, when memory is out */

static void work(struct weir_self *self, struct engine *engine);

/* --- what libcurl waits for ------------------------------------------------------------------- */

static uint32_t events_of(int what)
{
    return (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
}

/* curl_socket_callback. A socket that libcurl closes leaves the set by itself. With an error
 * libcurl would end all transfers; this one gets its time-out. */
static int change_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known)
{
    struct engine *engine = context;
    struct epoll_event event = { .events = events_of(what), .data.fd = socket };

    (void)easy;
    (void)known;
    if (what == CURL_POLL_REMOVE) {
        (void)epoll_ctl(engine->poller, EPOLL_CTL_DEL, socket, NULL);
        return 0;
    }
    if (epoll_ctl(engine->poller, EPOLL_CTL_ADD, socket, &event) != 0 && errno == EEXIST)
        (void)epoll_ctl(engine->poller, EPOLL_CTL_MOD, socket, &event);
    return 0;
}

static void act(struct weir_self *self, struct engine *engine, curl_socket_t socket, int mask)
{
    int running;

    engine->before(self, engine);
    (void)curl_multi_socket_action(engine->multi, socket, mask, &running);
}

void engine_look(struct weir_self *self, struct engine *engine)
{
    engine->self = self;
    act(self, engine, CURL_SOCKET_TIMEOUT, 0);
    work(self, engine);
}

static void on_time(struct weir_self *self, void *memory, void *context)
{
    struct engine *engine = memory;

    (void)context;
    engine->timer = 0;
    engine_look(self, engine);
}

/* curl_multi_timer_callback; it must not call libcurl. Without memory the next engine_look stands
 * for the timer. */
static int change_timer(CURLM *multi, long delay_ms, void *context)
{
    struct engine *engine = context;

    (void)multi;
    if (engine->timer)
        (void)weir_cancel_timer(engine->self, engine->timer);
    engine->timer = 0;
    if (delay_ms >= 0)
        (void)weir_after(engine->self, (uint64_t)delay_ms, on_time, NULL, &engine->timer);
    return 0;
}

/* --- working ---------------------------------------------------------------------------------- */

static void act_on_events(struct weir_self *self, struct engine *engine)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(engine->poller, events, EVENTS_MAX, 0);

    for (int i = 0; i < count; i++) {
        int mask = (events[i].events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
                   (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                   (events[i].events & EPOLLERR ? CURL_CSELECT_ERR : 0);

        act(self, engine, events[i].data.fd, mask);
    }
}

static void on_poller(struct weir_self *self, void *memory, void *context, int descriptor,
                      int readiness)
{
    struct engine *engine = memory;

    (void)context;
    (void)descriptor;
    (void)readiness;
    engine->self = self;
    engine->is_watching = false;
    act_on_events(self, engine);
    work(self, engine);
}

static void watch_again(struct weir_self *self, void *memory, void *context)
{
    (void)context;
    work(self, memory);
}

static void collect(struct weir_self *self, struct engine *engine)
{
    const CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(engine->multi, &left))) {
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;

        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl_multi_remove_handle(engine->multi, easy);
        if (engine->ended(self, engine, easy, code) &&
            curl_multi_add_handle(engine->multi, easy) != CURLM_OK)
            (void)engine->ended(self, engine, easy, CURLE_OUT_OF_MEMORY);
    }
}

/* Hands over the transfers that have ended, and waits for the sockets. */
static void work(struct weir_self *self, struct engine *engine)
{
    engine->self = self;
    collect(self, engine);
    if (!engine->is_watching)
        engine->is_watching = weir_watch(self, engine->poller, WEIR_READABLE, on_poller, NULL,
                                         NULL) == 0;
    if (!engine->is_watching)
        (void)weir_after(self, SCARCE_MS, watch_again, NULL, NULL);
}

int engine_add(struct weir_self *self, struct engine *engine, CURL *easy)
{
    engine->self = self;
    if (curl_multi_add_handle(engine->multi, easy) != CURLM_OK)
        return WEIR_ENOMEM;
    work(self, engine);
    return 0;
}

void engine_remove(struct weir_self *self, struct engine *engine, CURL *easy)
{
    engine->self = self;
    (void)curl_multi_remove_handle(engine->multi, easy);
}

/* --- life ------------------------------------------------------------------------------------- */

int engine_open(struct weir_self *self, struct engine *engine, engine_ended *ended,
                engine_before *before)
{
    engine->self = self;
    engine->ended = ended;
    engine->before = before;
    engine->poller = epoll_create1(EPOLL_CLOEXEC);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        engine->multi = NULL;
        return WEIR_ENOMEM;
    }
    engine->multi = curl_multi_init();
    if (engine->poller < 0 || !engine->multi)
        return WEIR_ENOMEM;
    (void)curl_multi_setopt(engine->multi, CURLMOPT_SOCKETFUNCTION, change_socket);
    (void)curl_multi_setopt(engine->multi, CURLMOPT_SOCKETDATA, engine);
    (void)curl_multi_setopt(engine->multi, CURLMOPT_TIMERFUNCTION, change_timer);
    (void)curl_multi_setopt(engine->multi, CURLMOPT_TIMERDATA, engine);
    return 0;
}

void engine_close(struct engine *engine)
{
    if (engine->multi) {
        (void)curl_multi_cleanup(engine->multi);
        curl_global_cleanup();
    }
    if (engine->poller >= 0)
        (void)close(engine->poller);
}
