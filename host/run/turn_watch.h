/*
 * run/turn_watch.h - tells of turns that take too long: whose code it is, and where it is.
 *
 * On every tick the I/O thread asks the watchdogs (dispatch/watchdog.h). A thread that has been in
 * one turn for longer than `host.turn_warning` is sent SIGURG, whose handler writes down who runs
 * there and its stack; the next tick logs that, once for each turn. A plugin that sleeps or polls
 * meanwhile sees EINTR, as from any signal.
 *
 * Used by one thread, but for turn_watch_set_limit, which any may call.
 */
#ifndef HOST_RUN_TURN_WATCH_H
#define HOST_RUN_TURN_WATCH_H

#include "base/log.h"

struct runtime;
struct turn_watch;

/*
 * Installs the handler. Borrows the runtime and the sink until turn_watch_destroy. Dispatcher
 * `unwatched` may take as long as it likes; NULL = none. WEIR_ENOMEM, WEIR_EINVALID.
 */
int turn_watch_create(struct runtime *runtime, const struct log_sink *sink, const char *unwatched,
                      struct turn_watch **out);

/* After the runtime's threads have stopped. NULL is allowed. */
void turn_watch_destroy(struct turn_watch *watch);

/* From now on turns that take `limit_ms` or longer are told of, and a spare thread works in the
 * place of theirs (dispatch/timekeeper.h). A message that is kept for 30 times that is told. */
void turn_watch_set_limit(struct turn_watch *watch, uint64_t limit_ms);

void turn_watch_tick(struct turn_watch *watch, uint64_t now_ms);

#endif
