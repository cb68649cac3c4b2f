/* SPDX-License-Identifier: MIT */
/*
 * A plugin as its author had it as a program: it reads pictures with libjpeg and libpng, which end
 * the process for what they cannot read.
 */
#include <inttypes.h>
#include <string.h>

#include <weir/plugin.h>

#include "picture.h"
#include "plugins/files/files.h"

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct files_line *given = files_line_get(message);
    char line[4200];
    struct weir_message *out;
    size_t size;
    uint64_t sum;

    (void)state;
    if (!given || given->line_size > 4096)
        return WEIR_REJECT;
    sum = picture_sum(files_line_text(given));
    if (sum == 0)
        return WEIR_REJECT;
    size = (size_t)snprintf(line, sizeof line, "%s %" PRIu64, files_line_text(given), sum);
    out = weir_message_new(self, weir_tag(self, "test.sum/1"), size);
    if (!out)
        return WEIR_POSTPONE;
    memcpy(out->data, line, size);
    if (weir_emit(self, 0, out) == WEIR_OK)
        return WEIR_DONE;
    weir_message_free(self, out);
    return WEIR_POSTPONE;
}

static const struct weir_output outputs[] = {
    { .name = "out", .help = "the path and the sum of its samples" },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    { .name = "sum",
      .summary = "reads the picture that a line names",
      .outputs = outputs,
      .handle = handle },
    { 0 },
};
WEIR_PLUGIN("pictures", "1.0.0", behaviours);
