/* SPDX-License-Identifier: MIT */
#include "config/rate_value.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#include <weir/choices.h>

#define PER_SIZE 32 /* more than any duration in bounds */

static int refuse(const struct config_node *node, const char *path, struct report *report)
{
    char got[96];

    report_add(report, &node->mark, path,
               "must be 1..%u messages in 1ms..1d, such as 100/s or 5/250ms, or a map of "
               "`messages`, `per` and `burst`, got %s",
               RATE_MESSAGES_MAX, config_describe(node, got, sizeof got));
    return WEIR_EINVALID;
}

/* A duration, or a unit alone: `s` is one second. */
static bool read_per(const char *text, uint64_t *out_ms)
{
    bool is_unit = text[0] < '0' || text[0] > '9';
    char per[PER_SIZE];
    int length = snprintf(per, sizeof per, "%s%s", is_unit ? "1" : "", text);

    return length > 0 && (size_t)length < sizeof per && text_parse_duration(per, out_ms) == TEXT_OK;
}

static bool read_messages(const char *text, size_t length, uint32_t *out)
{
    char digits[16]; /* more than RATE_MESSAGES_MAX has */
    uint64_t messages;

    if (length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (text_parse_u64(digits, &messages) != TEXT_OK || messages > RATE_MESSAGES_MAX)
        return false;
    *out = (uint32_t)messages;
    return true;
}

int rate_value_read(const struct config_node *node, const char *path, struct report *report,
                    struct rate *out)
{
    const char *slash = node->kind == CONFIG_SCALAR && !node->null ? strchr(node->text, '/') : NULL;
    struct rate rate = { 0 };

    if (!slash || !read_messages(node->text, (size_t)(slash - node->text), &rate.messages) ||
        !read_per(slash + 1, &rate.per_ms) || rate.messages == 0 || rate.per_ms == 0 ||
        rate.per_ms > RATE_PER_MS_MAX)
        return refuse(node, path, report);
    *out = rate;
    return WEIR_OK;
}

void rate_value_complete(struct rate *rate)
{
    if (rate->burst == 0)
        rate->burst = rate_usual_burst(rate->messages, rate->per_ms);
}

void rate_value_format(const struct rate *rate, char *text, size_t size)
{
    char per[PER_SIZE];
    const char *unit = per;

    text_format_duration(rate->per_ms, per, sizeof per);
    if (per[0] == '1' && (per[1] < '0' || per[1] > '9'))
        unit++;
    if (rate->burst == rate_usual_burst(rate->messages, rate->per_ms))
        (void)snprintf(text, size, "%u/%s", rate->messages, unit);
    else
        (void)snprintf(text, size, "%u/%s, burst %u", rate->messages, unit, rate->burst);
}
