#include "paths.h"

#include <fnmatch.h>
#include <string.h>

/* A source that reads its own position sends a message for each time that it saves it, for ever. */
static void check_against(const char *glob, const char *position, struct weir_report *report)
{
    if (fnmatch(glob, position, FNM_PATHNAME | FNM_PERIOD) == 0)
        weir_report_error(report, "position",
                          "%s of `paths` matches it: the source would read its own position", glob);
}

static void check_position(const char *position, struct weir_report *report)
{
    size_t size = strlen(position);

    if (size == 0)
        weir_report_error(report, "position", "is empty");
    else if (position[size - 1] == '/')
        weir_report_error(report, "position", "must be a file, got the folder %s", position);
}

void paths_check(const struct weir_list *paths, const char *position, struct weir_report *report)
{
    for (size_t i = 0; i < paths->count; i++) {
        if (paths->items[i][0] == '\0')
            weir_report_error(report, "paths", "number %zu is empty", i + 1);
        else if (position)
            check_against(paths->items[i], position, report);
    }
    if (position)
        check_position(position, report);
}
