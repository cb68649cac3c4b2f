/* SPDX-License-Identifier: MIT */
#include "kit_inspect.h"

#include <string.h>

#include "base/text.h"
#include "kit_due.h"
#include "kit_send.h"
#include "kit_turn.h"

int kit_inspect_ask(struct weir_self *self, weir_pid other, const char *const *items,
                    uint64_t timeout_ms, weir_then *then, void *context, uint64_t *out_reference)
{
    struct weir_kit *kit = kit_of(self);
    const struct kit_due due = { .at_ms = kit_due_after(kit->now_ms, timeout_ms),
                                 .is_request = true,
                                 .then = then,
                                 .context = context };
    struct weir_kit_sent sent = { .way = WEIR_KIT_INSPECT, .to = other };
    size_t count = 0;

    while (items && items[count])
        count++;
    if (!then || count > WEIR_INSPECT_ITEMS_MAX)
        return WEIR_EINVALID;
    if (!other)
        return WEIR_EUNKNOWN;
    if (kit_allocation_fails(kit))
        return WEIR_ENOMEM;
    sent.reference = kit_due_add(kit, &due);
    kit_send_note(kit, &sent);
    if (out_reference)
        *out_reference = sent.reference;
    return 0;
}

/* --- looking at the behaviour ----------------------------------------------------------------- */

/* The argument of `inspect`. */
struct look {
    struct weir_inspection inspection; /* first: the inspection is cast back to this struct */
    struct weir_kit *kit;
    const char *const *items; /* NULL: all */
};

static bool wants(const struct weir_inspection *inspection, const char *item)
{
    const struct look *look = (const struct look *)(const void *)inspection;
    size_t at = 0;

    if (!look->items || !look->items[0])
        return true;
    while (look->items[at] && strcmp(look->items[at], item) != 0)
        at++;
    return look->items[at] != NULL;
}

/* True when the text has a line `item=...`. */
static bool is_reported(const char *text, const char *item)
{
    size_t length = strlen(item);

    while (text && *text) {
        if (strncmp(text, item, length) == 0 && text[length] == '=')
            return true;
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return false;
}

/* As the host: it cuts a value that is too long. */
static void report(struct kit_text *answer, const char *item, const char *value)
{
    char shown[WEIR_INSPECT_VALUE_MAX + 1];

    (void)snprintf(shown, sizeof shown, "%s", value);
    text_end_at_character(shown);
    kit_text_format(answer, "%s=%s\n", item, shown);
}

static void add(struct weir_inspection *inspection, const char *item, const char *value)
{
    struct look *look = (struct look *)(void *)inspection;
    struct kit_text *answer = &look->kit->inspected;

    if (!wants(inspection, item))
        return;
    if (!item[0] || strlen(item) > WEIR_INSPECT_ITEM_MAX)
        kit_problem(look->kit, "an item called \"%s\": a name has 1 to %d bytes", item,
                    WEIR_INSPECT_ITEM_MAX);
    else if (is_reported(kit_text_get(answer), item))
        kit_problem(look->kit, "the item %s was reported twice", item);
    else
        report(answer, item, value);
}

const char *weir_kit_inspect(struct weir_kit *kit, const char *const *items)
{
    struct look look = { { wants, add }, kit, items };

    kit_text_finish(&kit->inspected);
    if (kit_turn_can_run(kit, kit->behaviour.inspect != NULL, "inspect"))
        kit->behaviour.inspect(&kit->self, kit->state, &look.inspection);
    return kit_text_get(&kit->inspected);
}
