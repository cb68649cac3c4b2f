/* SPDX-License-Identifier: MIT */
#include "config/bound.h"

#include <string.h>

#include <weir/choices.h>

const char *const bound_words[] = { BOUND_WORD, NULL };

static bool read_bound(const struct weir_option *row, const char *text, uint32_t *out)
{
    uint64_t number;

    if (strcmp(text, BOUND_WORD) == 0) {
        *out = WEIR_UNLIMITED;
        return true;
    }
    if (text_parse_u64(text, &number) != TEXT_OK || number < (uint64_t)row->min ||
        number > (uint64_t)row->max)
        return false;
    *out = (uint32_t)number;
    return true;
}

int bound_fill(const struct weir_option *row, const struct config_node *node, const char *path,
               struct report *report, void *out)
{
    bool is_text = !node || (node->kind == CONFIG_SCALAR && !node->null);
    uint32_t bound;
    char got[96];

    if (!is_text || !read_bound(row, node ? node->text : row->fallback, &bound)) {
        report_add(report, &node->mark, path, "must be %lld..%lld or `" BOUND_WORD "`, got %s",
                   (long long)row->min, (long long)row->max,
                   config_describe(node, got, sizeof got));
        return WEIR_EINVALID;
    }
    memcpy((char *)out + row->offset, &bound, sizeof bound);
    return WEIR_OK;
}
