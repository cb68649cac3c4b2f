/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <inttypes.h>
#include <limits.h>

#include "thumbs.h"

#define EXIT_FAILED 1

int report_open(struct weir_self *self, const void *settings, void *memory)
{
    struct report *state = memory;

    (void)settings;
    state->tag = weir_tag(self, THUMBS_RESULT_TAG);
    return state->tag ? 0 : WEIR_ENOMEM;
}

/* Truncates a long line, but keeps its end. */
static void print(struct weir_self *self, char *line, size_t room, int size)
{
    size_t length = (size_t)size < room ? (size_t)size : room - 1;

    line[length - 1] = '\n';
    weir_print(self, line, length);
}

static void print_result(struct weir_self *self, const struct thumbs_result *result)
{
    char line[2 * PATH_MAX + 128];
    const char *path = thumbs_result_path(result), *text = thumbs_result_text(result);
    int size;

    if (result->outcome == THUMBS_DONE)
        size = snprintf(line, sizeof line, "done   %s  %" PRIu32 "x%" PRIu32 "  %s\n", path,
                        result->thumb_width, result->thumb_height, text);
    else
        size = snprintf(line, sizeof line, "failed %s  (%s)\n", path, text);
    print(self, line, sizeof line, size);
}

int report_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct report *state = memory;
    const struct thumbs_result *result = NULL;

    if (message->tag == state->tag)
        result = thumbs_result_get(message);
    if (!result) {
        weir_reason(self, "not a " THUMBS_RESULT_TAG);
        return WEIR_REJECT;
    }
    print_result(self, result);
    if (result->outcome == THUMBS_DONE) {
        state->done++;
    } else {
        state->failed++;
        weir_exit_status(self, EXIT_FAILED);
    }
    return WEIR_DONE;
}

void report_close(struct weir_self *self, void *memory, int reason)
{
    const struct report *state = memory;
    char line[96];
    int size = snprintf(line, sizeof line, "%" PRIu64 " thumbnails, %" PRIu64 " failed\n",
                        state->done, state->failed);

    (void)reason;
    print(self, line, sizeof line, size);
}
