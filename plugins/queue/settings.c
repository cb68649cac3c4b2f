/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <string.h>

/* In the order of enum queue_sync. */
const char *const settings_syncs[] = { "full", "normal", NULL };
/* In the order of enum queue_id. */
const char *const settings_ids[] = { "run", "content", NULL };

void settings_check(const struct queue_settings *settings, struct weir_report *report)
{
    size_t length = strlen(settings->queue);

    if (settings->file[0] == '\0')
        weir_report_error(report, "file", "must not be empty");
    if (length == 0 || length > QUEUE_NAME_MAX)
        weir_report_error(report, "queue", "must have 1 to %u bytes", QUEUE_NAME_MAX);
}
