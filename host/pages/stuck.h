/* SPDX-License-Identifier: MIT */
/*
 * pages/stuck.h - threads that have been in one callback for `turn_warning` or longer, and the
 * spare threads that do their work (dispatch/timekeeper.h). Dispatchers with a budget of 1 are left
 * out, because callbacks may block there. Any thread.
 */
#ifndef HOST_PAGES_STUCK_H
#define HOST_PAGES_STUCK_H

#include "host/pages/overview_figures.h"

struct stuck_figures {
    uint32_t stuck;
    uint32_t spares;
    bool is_blocked; /* all threads of a dispatcher, spares included, are stuck */
};

/* Of all dispatchers. */
struct stuck_figures stuck_look(const struct overview *overview);

/* Turns of each dispatcher at the last check. */
struct stuck_progress {
    uint64_t turns[RUNTIME_DISPATCHERS_MAX];
};

/* False: all threads of a dispatcher are stuck, and it has begun no turn since the last check. */
bool stuck_look_for_progress(const struct overview *overview, struct stuck_progress *progress);

/*
 * Writes a line for each dispatcher with stuck threads, with a prefix: `blocked` when all of its
 * threads are stuck, `warning` when some are. NULL: leaves out such lines.
 */
void stuck_print(const struct overview *overview, const char *blocked, const char *warning,
                 FILE *stream);

#endif
