/* SPDX-License-Identifier: MIT */
/*
 * page.h - the behaviour thumbs.page: answers GET / with a page.
 */
#ifndef PAGE_H
#define PAGE_H

#include <weir/plugin.h>

struct page_settings {
    const char *file;
};

struct page {
    const struct weir_tag *request_tag;
    const struct weir_tag *response_tag;
    void *text; /* owned */
    size_t size;
};

int page_open(struct weir_self *self, const void *settings, void *memory);
int page_handle(struct weir_self *self, void *memory, const struct weir_message *message);
void page_close(struct weir_self *self, void *memory, int reason);

extern const struct weir_option page_options[];

#endif
