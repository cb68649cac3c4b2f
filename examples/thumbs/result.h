/* SPDX-License-Identifier: MIT */
/*
 * result.h - makes the message with the result for a picture.
 */
#ifndef RESULT_H
#define RESULT_H

#include <weir/plugin.h>

#include "thumbs.h"

struct result {
    enum thumbs_outcome outcome;
    const struct thumbs_picture *picture;
    uint32_t width; /* of the thumbnail */
    uint32_t height;
    const char *text; /* its path, or the reason why there is none */
};

/*
 * Emits a thumbs.result/1 by `output`. Returns the verdict for the picture's message: WEIR_DONE, or
 * WEIR_RETRY when there was no memory or no room for the result.
 */
int result_emit(struct weir_self *self, const struct weir_tag *tag, uint32_t output,
                const struct result *result);

#endif
