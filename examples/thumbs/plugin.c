/* SPDX-License-Identifier: MIT */
/*
 * thumbs - thumbnails of pictures, with libvips.
 */
#include "find.h"
#include "page.h"
#include "reply.h"
#include "report.h"
#include "scale.h"
#include "sort.h"

static const struct weir_behaviour behaviours[] = {
    {
        .name = "find",
        .summary = "the paths of pictures",
        .options = find_options,
        .outputs = find_outputs,
        .settings_size = sizeof(struct find_settings),
        .state_size = sizeof(struct find),
        .flags = WEIR_BLOCKING,
        .open = find_open,
        .produce = find_produce,
        .close = find_close,
    },
    {
        .name = "sort",
        .summary = "separates small pictures from large ones by their headers",
        .options = sort_options,
        .outputs = sort_outputs,
        .settings_size = sizeof(struct sort_settings),
        .state_size = sizeof(struct sort),
        .flags = WEIR_BLOCKING,
        .check = sort_check,
        .open = sort_open,
        .handle = sort_handle,
    },
    {
        .name = "scale",
        .summary = "makes a thumbnail of a picture, as a PNG file",
        .options = scale_options,
        .outputs = scale_outputs,
        .settings_size = sizeof(struct scale_settings),
        .state_size = sizeof(struct scale),
        .flags = WEIR_BLOCKING,
        .open = scale_open,
        .handle = scale_handle,
    },
    {
        .name = "report",
        .summary = "prints the result of each picture; exits with 1 if any failed",
        .state_size = sizeof(struct report),
        .open = report_open,
        .handle = report_handle,
        .close = report_close,
    },
    {
        .name = "reply",
        .summary = "answers a request of http.server with the thumbnail of its picture",
        .options = reply_options,
        .settings_size = sizeof(struct reply_settings),
        .state_size = sizeof(struct reply),
        .flags = WEIR_BLOCKING,
        .open = reply_open,
        .handle = reply_handle,
    },
    {
        .name = "page",
        .summary = "answers a request of http.server for / with a page",
        .options = page_options,
        .settings_size = sizeof(struct page_settings),
        .state_size = sizeof(struct page),
        .open = page_open,
        .handle = page_handle,
        .close = page_close,
    },
    { 0 },
};

WEIR_PLUGIN("thumbs", "1.0.0", behaviours);
