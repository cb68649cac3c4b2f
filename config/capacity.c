/* SPDX-License-Identifier: MIT */
#include "config/capacity.h"

#include <string.h>

#include <weir/choices.h>

static const struct {
    const char *word;
    uint32_t capacity;
} meanings[] = {
    { "unlimited", 0 },
    { "unbuffered", WEIR_UNBUFFERED },
};

const char *const capacity_words[] = { "unlimited", "unbuffered", NULL };

const char *capacity_word(uint32_t capacity)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].capacity == capacity)
            return meanings[i].word;
    }
    return NULL;
}

static bool find_word(const char *text, uint32_t *out)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (strcmp(meanings[i].word, text) != 0)
            continue;
        *out = meanings[i].capacity;
        return true;
    }
    return false;
}

static bool read_number(const struct weir_option *row, const char *text, uint32_t *out)
{
    uint64_t number;

    if (text_parse_u64(text, &number) != TEXT_OK || number < (uint64_t)row->min ||
        number > (uint64_t)row->max)
        return false;
    *out = (uint32_t)number;
    return true;
}

static int refuse(const struct weir_option *row, const struct config_node *node, const char *path,
                  struct report *report)
{
    char got[96];

    if (node->kind == CONFIG_SCALAR && !node->null && strcmp(node->text, "0") == 0)
        report_add(report, &node->mark, path,
                   "cannot be 0: `unlimited` means no limit, `unbuffered` that no "
                   "message waits");
    else
        report_add(report, &node->mark, path,
                   "must be %lld..%lld, `unlimited` or `unbuffered`, got %s", (long long)row->min,
                   (long long)row->max, config_describe(node, got, sizeof got));
    return WEIR_EINVALID;
}

int capacity_fill(const struct weir_option *row, const struct config_node *node, const char *path,
                  struct report *report, void *out)
{
    const char *text = node ? node->text : row->fallback;
    uint32_t capacity = 0;

    if (node && (node->kind != CONFIG_SCALAR || node->null))
        return refuse(row, node, path, report);
    if (!find_word(text, &capacity) && !read_number(row, text, &capacity))
        return node ? refuse(row, node, path, report) : WEIR_EINVALID;
    memcpy((char *)out + row->offset, &capacity, sizeof capacity);
    return WEIR_OK;
}
