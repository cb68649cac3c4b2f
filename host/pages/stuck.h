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
    bool is_blocked; /* a dispatcher has no thread left, spares included, that is not stuck */
};

/* Of all dispatchers. */
struct stuck_figures stuck_look(const struct overview *overview);

/*
 * A line for each dispatcher with stuck threads, behind a prefix: `blocked` when no thread of it is
 * left, `warning` when some are. NULL: such lines are left out.
 */
void stuck_tell(const struct overview *overview, const char *blocked, const char *warning,
                FILE *stream);

#endif
