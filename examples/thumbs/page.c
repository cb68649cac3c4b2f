/* SPDX-License-Identifier: MIT */
#include "page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/messages/http.h>

#include "response.h"

#define PAGE_MAX ((size_t)1 << 20) /* bytes */

/* Reads at most PAGE_MAX bytes. False: errno says why. */
static bool read_all(FILE *file, struct page *state)
{
    state->text = malloc(PAGE_MAX);
    if (!state->text)
        return false;
    state->size = fread(state->text, 1, PAGE_MAX, file);
    if (fgetc(file) == EOF && !ferror(file))
        return true;
    errno = ferror(file) ? errno : EFBIG;
    return false;
}

static bool read_page(const char *path, struct page *state)
{
    FILE *file = fopen(path, "re");
    bool is_read = file && read_all(file, state);
    int error = errno;

    if (file)
        (void)fclose(file);
    errno = error;
    return is_read;
}

int page_open(struct weir_self *self, const void *settings, void *memory)
{
    const struct page_settings *wanted = settings;
    struct page *state = memory;

    state->request_tag = weir_tag(self, HTTP_REQUEST_TAG);
    state->response_tag = weir_tag(self, HTTP_RESPONSE_TAG);
    if (!state->request_tag || !state->response_tag)
        return WEIR_ENOMEM;
    if (read_page(wanted->file, state))
        return 0;
    weir_reason(self, "the page: %s", strerror(errno));
    weir_log(self, WEIR_LOG_ERROR, "page cannot be read", weir_str("file", wanted->file));
    free(state->text);
    return WEIR_EINVALID;
}

/* True for GET and HEAD of /, with or without a query. The server leaves the body out for HEAD. */
static bool asks_for_page(const struct http_parts *parts)
{
    const char *path = memchr(parts->line, ' ', parts->line_size);
    size_t size = path ? (size_t)(path - parts->line) : 0;

    if (!(size == 3 && memcmp(parts->line, "GET", 3) == 0) &&
        !(size == 4 && memcmp(parts->line, "HEAD", 4) == 0))
        return false;
    size = parts->line_size - size;
    return size >= 2 && path[1] == '/' && (size == 2 || path[2] == '?');
}

int page_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    const struct page *state = memory;
    struct http_parts parts;

    if (message->tag != state->request_tag ||
        !http_parts_read(message->data, message->size, &parts)) {
        weir_reason(self, "not an " HTTP_REQUEST_TAG);
        return WEIR_REJECT;
    }
    if (!asks_for_page(&parts))
        return response_send_text(self, message, state->response_tag, 404, "no such page");
    return response_send(self, message, state->response_tag,
                         &(struct response){ .status = 200,
                                             .type = "text/html; charset=utf-8",
                                             .body = state->text,
                                             .size = state->size });
}

void page_close(struct weir_self *self, void *memory, int reason)
{
    struct page *state = memory;

    (void)self;
    (void)reason;
    free(state->text);
}

const struct weir_option page_options[] = {
    WEIR_OPTION_STRING(struct page_settings, file,
                       .help = "the page, of at most 1 MiB; read when the worker opens",
                       .required = true),
    { 0 },
};
