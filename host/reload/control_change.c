/* SPDX-License-Identifier: MIT */
#include "host/reload/control_change.h"

bool control_change_is_lost(struct control *control, const struct settings *settings)
{
    const char *path = settings->host.control;

    return control && path && !control_is_at(control, path);
}

/* The same socket under another name, such as through a link, stays as it is. */
static bool is_wanted(struct control *control, const struct settings *settings,
                      const struct plan *plan)
{
    return settings->host.control ? control_change_is_lost(control, settings)
                                  : plan_effects(plan, PLAN_PART_HOST) & PLAN_LISTENS;
}

int control_change_prepare(struct control_change *change, struct control *control,
                           const struct settings *settings, const struct plan *plan,
                           struct report *report)
{
    const struct settings_host *host = &settings->host;
    struct control_socket socket;
    int status;

    *change = (struct control_change){ .control = control };
    if (!control || !is_wanted(control, settings, plan))
        return 0;
    if (!host->control)
        return control_listener_create(NULL, &change->made);
    status = control_socket_listen(host->control, written_mark(&host->written, "control"), report,
                                   &socket);
    return status == 0 ? control_listener_create(&socket, &change->made) : status;
}

void control_change_commit(struct control_change *change)
{
    if (change->made)
        control_offer(change->control, change->made);
    change->made = NULL;
}

void control_change_abort(struct control_change *change)
{
    control_listener_destroy(change->made);
    change->made = NULL;
}
