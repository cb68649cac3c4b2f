/* SPDX-License-Identifier: MIT */
#include "sort.h"

#include "picture.h"
#include "result.h"

enum output {
    OUTPUT_SMALL,
    OUTPUT_LARGE,
    OUTPUT_ANY,
    OUTPUT_FAILED,
};

#define AGAIN_MS 20u

void sort_check(const void *settings, struct weir_report *report)
{
    const struct sort_settings *wanted = settings;

    if (wanted->large > wanted->most)
        weir_report_error(report, "large", "must not be more than `most`, %ju",
                          (uintmax_t)wanted->most);
}

int sort_open(struct weir_self *self, const void *settings, void *memory)
{
    struct sort *state = memory;

    state->settings = settings;
    state->picture_tag = weir_tag(self, THUMBS_PICTURE_TAG);
    state->result_tag = weir_tag(self, THUMBS_RESULT_TAG);
    if (!state->picture_tag || !state->result_tag)
        return WEIR_ENOMEM;
    return picture_ready(self);
}

/* --- sending it on
 * ----------------------------------------------------------------------------
 */

static int refuse(struct weir_self *self, const struct sort *state,
                  const struct thumbs_picture *picture, const char *why)
{
    struct result result = { .outcome = THUMBS_FAILED, .picture = picture, .text = why };

    return result_emit(self, state->result_tag, OUTPUT_FAILED, &result);
}

static int send_on(struct weir_self *self, const struct sort *state,
                   const struct thumbs_picture *picture, uint32_t output)
{
    size_t size = sizeof *picture + (size_t)picture->path_size + 1;
    struct weir_message *message = weir_message_new(self, state->picture_tag, size);
    int status = WEIR_ENOMEM;

    if (message) {
        memcpy(message->data, picture, sizeof *picture);
        memcpy((struct thumbs_picture *)message->data + 1, thumbs_picture_path(picture),
               picture->path_size);
        status = weir_emit(self, output, message);
        if (status < 0)
            weir_message_free(self, message);
    }
    if (status == 0)
        return WEIR_DONE;
    weir_retry_after(self, AGAIN_MS);
    weir_reason(self, "not sent on: %s", weir_status_name(status));
    return WEIR_RETRY;
}

/* --- looking
 * ----------------------------------------------------------------------------------
 */

static int sort_picture(struct weir_self *self, const struct sort *state,
                        const struct thumbs_picture *picture)
{
    const char *path = thumbs_picture_path(picture);
    struct picture_header header;
    const char *why = picture_look(path, &header);
    uint64_t pixels;

    if (why)
        return refuse(self, state, picture, why);
    pixels = (uint64_t)header.width * header.height;
    /* A drawn picture costs as much as its thumbnail: any free worker may take it. */
    if (header.is_drawn)
        return send_on(self, state, picture, OUTPUT_ANY);
    if (pixels > state->settings->most)
        return refuse(self, state, picture, "more pixels than allowed");
    return send_on(self, state, picture,
                   pixels < state->settings->large ? OUTPUT_SMALL : OUTPUT_LARGE);
}

int sort_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    const struct sort *state = memory;
    const struct thumbs_picture *picture = NULL;

    if (message->tag == state->picture_tag)
        picture = thumbs_picture_get(message);
    if (!picture) {
        weir_reason(self, "not a " THUMBS_PICTURE_TAG);
        return WEIR_REJECT;
    }
    return sort_picture(self, state, picture);
}

const struct weir_option sort_options[] = {
    WEIR_OPTION_U64(struct sort_settings, large, .help = "pixels from which on a picture is large",
                    .fallback = "1000000", .min = 1, .max = INT64_MAX),
    WEIR_OPTION_U64(struct sort_settings, most, .help = "pixels beyond which a picture is refused",
                    .fallback = "500000000", .min = 1, .max = INT64_MAX),
    { 0 },
};

/* In the order of enum output. */
const struct weir_output sort_outputs[] = {
    { .name = "small", .help = "pictures of few pixels, as thumbs.picture/1", .required = true },
    { .name = "large", .help = "pictures of many pixels", .required = true },
    { .name = "any", .help = "drawings, which have no pixels of their own", .required = true },
    { .name = "failed", .help = "files that are no picture, as thumbs.result/1", .required = true },
    { 0 },
};
