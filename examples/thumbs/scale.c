/* SPDX-License-Identifier: MIT */
#include "scale.h"

#include "picture.h"
#include "result.h"
#include "target.h"

enum output {
    OUTPUT_DONE,
    OUTPUT_FAILED,
};

int scale_open(struct weir_self *self, const void *settings, void *memory)
{
    struct scale *state = memory;

    state->settings = settings;
    state->picture_tag = weir_tag(self, THUMBS_PICTURE_TAG);
    state->result_tag = weir_tag(self, THUMBS_RESULT_TAG);
    if (!state->picture_tag || !state->result_tag)
        return WEIR_ENOMEM;
    return picture_ready(self);
}

/* NULL, or the reason why there is no thumbnail; then `result` is unchanged. */
static const char *make(const struct scale *state, const char *path, struct target *target,
                        struct result *result)
{
    struct picture_thumb thumb;
    const char *why = target_name(target, state->settings->into, path);

    if (!why)
        why = picture_scale(path, state->settings->edge, &thumb);
    if (why)
        return why;
    why = target_write(target, thumb.bytes, thumb.size);
    picture_free(&thumb);
    if (why)
        return why;
    result->width = thumb.width;
    result->height = thumb.height;
    return NULL;
}

int scale_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct scale *state = memory;
    const struct thumbs_picture *picture = NULL;
    struct target target;
    struct result result;
    const char *why;

    if (message->tag == state->picture_tag)
        picture = thumbs_picture_get(message);
    if (!picture) {
        weir_reason(self, "not a " THUMBS_PICTURE_TAG);
        return WEIR_REJECT;
    }
    result = (struct result){ .picture = picture };
    why = make(state, thumbs_picture_path(picture), &target, &result);
    result.outcome = why ? THUMBS_FAILED : THUMBS_DONE;
    result.text = why ? why : target.path;
    weir_progress(self, "pictures", ++state->done, 0);
    return result_emit(self, state->result_tag, why ? OUTPUT_FAILED : OUTPUT_DONE, &result);
}

const struct weir_option scale_options[] = {
    WEIR_OPTION_STRING(struct scale_settings, into,
                       .help = "folder for the thumbnails; it must be there", .required = true),
    WEIR_OPTION_U32(struct scale_settings, edge,
                    .help = "pixels of the longer edge; smaller pictures stay as they are",
                    .fallback = "128", .min = 1, .max = 4096),
    { 0 },
};

/* In the order of enum output. */
const struct weir_output scale_outputs[] = {
    { .name = "done", .help = "thumbnails that were written, as thumbs.result/1" },
    { .name = "failed", .help = "pictures that could not be read or written", .required = true },
    { 0 },
};
