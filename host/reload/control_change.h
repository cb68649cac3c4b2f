/* SPDX-License-Identifier: MIT */
/*
 * reload/control_change.h - the control socket in a reload: another one, a new one, none, or the
 * same one again when its file was removed.
 *
 * Prepare listens at the new place, where clients wait; the commit hands the listener over to be
 * served. Clients that are connected to the old one are answered, then it closes.
 */
#ifndef HOST_RELOAD_CONTROL_CHANGE_H
#define HOST_RELOAD_CONTROL_CHANGE_H

#include "config/plan.h"
#include "host/control/control.h"

struct control_change {
    struct control *control;
    struct control_listener *made; /* owned; NULL: the present one stays */
};

/* True when `settings` name a socket whose file is missing or belongs to another host. */
bool control_change_is_lost(struct control *control, const struct settings *settings);

/*
 * Prepares the socket of `settings`. WEIR_EINVALID, with the mistake at its position in `report`;
 * WEIR_ENOMEM. `control` NULL: this host serves no socket. After a failure neither commit nor abort
 * is needed.
 */
int control_change_prepare(struct control_change *change, struct control *control,
                           const struct settings *settings, const struct plan *plan,
                           struct report *report);

/* Cannot fail. The caller wakes the I/O thread. */
void control_change_commit(struct control_change *change);

/* Closes the prepared listener. */
void control_change_abort(struct control_change *change);

#endif
