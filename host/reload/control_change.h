/*
 * reload/control_change.h - the control socket in a reload: another, a new one, none any more, or
 * the same one again when its file was removed.
 *
 * Prepare listens at the new place, where who connects waits; the commit hands that over to be
 * served. The one before is closed once it is: those who ask there are answered.
 */
#ifndef HOST_RELOAD_CONTROL_CHANGE_H
#define HOST_RELOAD_CONTROL_CHANGE_H

#include "config/plan.h"
#include "host/control/control.h"

struct control_change {
    struct control *control;
    struct control_listener *made; /* owned; NULL: it stays */
};

/* True when `settings` name a socket whose file is not there, or is another's. */
bool control_change_is_lost(struct control *control, const struct settings *settings);

/*
 * As `plan` to `settings` wants it. Reports why not: WEIR_EINVALID, with what is wrong at its
 * place; WEIR_ENOMEM. `control` NULL: there is nobody who would serve. After a failure neither of
 * the others is needed.
 */
int control_change_prepare(struct control_change *change, struct control *control,
                           const struct settings *settings, const struct plan *plan,
                           struct report *report);

/* Cannot fail. Who serves is to be woken. */
void control_change_commit(struct control_change *change);

/* Closes what was made. */
void control_change_abort(struct control_change *change);

#endif
