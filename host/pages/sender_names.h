/*
 * pages/sender_names.h - the names of those who sent messages: a source, a pool, or a worker as
 * `pool#3`.
 *
 * Only actors that the configuration in force knows have one: a worker that has left has none.
 * Life: init .. finish. Not synchronised.
 */
#ifndef HOST_PAGES_SENDER_NAMES_H
#define HOST_PAGES_SENDER_NAMES_H

#include "host/pages/overview_figures.h"

struct sender_name;

struct sender_names {
    struct sender_name *names; /* by PID */
    uint32_t count;
};

/* For at most `max` senders. Without memory nobody has a name. */
void sender_names_init(struct sender_names *names, uint32_t max);
void sender_names_finish(struct sender_names *names);

/* Wants the name of a sender; at most `max` times. 0 is nobody. */
void sender_names_want(struct sender_names *names, weir_pid pid);

/* Then finds the names of all of them; assembly->lock is held. */
void sender_names_find_locked(struct sender_names *names, const struct overview *overview);

/* Then: the name; NULL: it has none. Borrowed until finish. */
const char *sender_names_get(const struct sender_names *names, weir_pid pid);

#endif
