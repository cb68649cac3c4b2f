/* SPDX-License-Identifier: MIT */
#include <weir/plugin.h>

#include "layout.h"

#ifndef LAYOUT_OF
#error "the build gives LAYOUT_OF, the function that this becomes"
#endif

#define GROWS(type)                                                                                \
    {                                                                                              \
        LAYOUT_GROWS, #type, 0, sizeof(struct type)                                                \
    }
#define FROZEN(type)                                                                               \
    {                                                                                              \
        LAYOUT_FROZEN, #type, 0, sizeof(struct type)                                               \
    }
#define FIELD(type, field)                                                                         \
    {                                                                                              \
        LAYOUT_FIELD, #type "." #field, offsetof(struct type, field),                              \
            sizeof(((struct type *)0)->field)                                                      \
    }
#define SPARE(type, field)                                                                         \
    {                                                                                              \
        LAYOUT_SPARE, #type "." #field, offsetof(struct type, field),                              \
            sizeof(((struct type *)0)->field)                                                      \
    }
#define VALUE(constant)                                                                            \
    {                                                                                              \
        LAYOUT_VALUE, #constant, constant, 0                                                       \
    }
#define STATUS(number, name, text) , VALUE(WEIR_E##name)

static const struct layout_row rows[] = {
    FROZEN(weir_tag),
    FIELD(weir_tag, name),

    GROWS(weir_end),
    FIELD(weir_end, pid),
    FIELD(weir_end, reason),
    FIELD(weir_end, status),
    FIELD(weir_end, detail),

    FROZEN(weir_message),
    FIELD(weir_message, data),
    FIELD(weir_message, size),
    FIELD(weir_message, tag),
    FIELD(weir_message, key),
    FIELD(weir_message, from),
    FIELD(weir_message, kind),
    FIELD(weir_message, lane),
    FIELD(weir_message, attempt),
    SPARE(weir_message, reserved),

    FROZEN(weir_list),
    FIELD(weir_list, items),
    FIELD(weir_list, count),

    FROZEN(weir_pair),
    FIELD(weir_pair, key),
    FIELD(weir_pair, value),

    FROZEN(weir_map),
    FIELD(weir_map, items),
    FIELD(weir_map, count),

    GROWS(weir_option),
    FIELD(weir_option, name),
    FIELD(weir_option, kind),
    FIELD(weir_option, offset),
    FIELD(weir_option, help),
    FIELD(weir_option, fallback),
    FIELD(weir_option, choices),
    FIELD(weir_option, min),
    FIELD(weir_option, max),
    FIELD(weir_option, required),
    FIELD(weir_option, secret),
    FIELD(weir_option, live),
    SPARE(weir_option, reserved),

    GROWS(weir_self),
    FIELD(weir_self, host),

    FROZEN(weir_field),
    FIELD(weir_field, key),
    FIELD(weir_field, kind),
    SPARE(weir_field, reserved),
    FIELD(weir_field, value),

    GROWS(weir_reply),
    FIELD(weir_reply, reference),
    FIELD(weir_reply, status),
    FIELD(weir_reply, message),
    FIELD(weir_reply, detail),

    FROZEN(weir_resized),
    FIELD(weir_resized, changed),
    FIELD(weir_resized, size),
    FIELD(weir_resized, epoch),

    GROWS(weir_pool_stats),
    FIELD(weir_pool_stats, size),
    FIELD(weir_pool_stats, target),
    FIELD(weir_pool_stats, live),
    FIELD(weir_pool_stats, busy),
    FIELD(weir_pool_stats, starting),
    FIELD(weir_pool_stats, retiring),
    FIELD(weir_pool_stats, epoch),
    FIELD(weir_pool_stats, accepted),
    FIELD(weir_pool_stats, done),
    FIELD(weir_pool_stats, dead),
    FIELD(weir_pool_stats, moved),
    FIELD(weir_pool_stats, queued),
    FIELD(weir_pool_stats, in_hand),
    FIELD(weir_pool_stats, held),
    FIELD(weir_pool_stats, refused),
    FIELD(weir_pool_stats, restarts),

    GROWS(weir_host),
    FIELD(weir_host, size),
    FIELD(weir_host, minor),
    FIELD(weir_host, tag),
    FIELD(weir_host, message_new),
    FIELD(weir_host, message_free),
    FIELD(weir_host, send),
    FIELD(weir_host, lookup),
    FIELD(weir_host, emit),
    FIELD(weir_host, request),
    FIELD(weir_host, cancel),
    FIELD(weir_host, reply),
    FIELD(weir_host, forward),
    FIELD(weir_host, settle),
    FIELD(weir_host, retry_after),
    FIELD(weir_host, reason),
    FIELD(weir_host, now_ms),
    FIELD(weir_host, send_after),
    FIELD(weir_host, after),
    FIELD(weir_host, every),
    FIELD(weir_host, cancel_timer),
    FIELD(weir_host, link),
    FIELD(weir_host, unlink),
    FIELD(weir_host, monitor),
    FIELD(weir_host, demonitor),
    FIELD(weir_host, trap_exits),
    FIELD(weir_host, exit),
    FIELD(weir_host, name),
    FIELD(weir_host, pid),
    FIELD(weir_host, path),
    FIELD(weir_host, index),
    FIELD(weir_host, pool),
    FIELD(weir_host, pool_resize),
    FIELD(weir_host, pool_add),
    FIELD(weir_host, pool_stats),
    FIELD(weir_host, log),
    FIELD(weir_host, progress),
    FIELD(weir_host, exit_status),
    FIELD(weir_host, print),

    GROWS(weir_report),
    FIELD(weir_report, error),

    GROWS(weir_output),
    FIELD(weir_output, name),
    FIELD(weir_output, help),
    FIELD(weir_output, required),
    SPARE(weir_output, reserved),

    GROWS(weir_behaviour),
    FIELD(weir_behaviour, name),
    FIELD(weir_behaviour, summary),
    FIELD(weir_behaviour, options),
    FIELD(weir_behaviour, outputs),
    FIELD(weir_behaviour, settings_size),
    FIELD(weir_behaviour, state_size),
    FIELD(weir_behaviour, flags),
    FIELD(weir_behaviour, in_hand),
    FIELD(weir_behaviour, check),
    FIELD(weir_behaviour, open),
    FIELD(weir_behaviour, handle),
    FIELD(weir_behaviour, produce),
    FIELD(weir_behaviour, reconfigure),
    FIELD(weir_behaviour, close),

    GROWS(weir_plugin),
    FIELD(weir_plugin, size),
    FIELD(weir_plugin, abi_minor),
    FIELD(weir_plugin, name),
    FIELD(weir_plugin, version),
    FIELD(weir_plugin, behaviours),
    FIELD(weir_plugin, behaviour_size),
    FIELD(weir_plugin, option_size),
    FIELD(weir_plugin, output_size),
    SPARE(weir_plugin, reserved),

    VALUE(WEIR_MESSAGE),
    VALUE(WEIR_REQUEST),
    VALUE(WEIR_EVENT),
    VALUE(WEIR_EXIT),
    VALUE(WEIR_DOWN),
    VALUE(WEIR_NORMAL),
    VALUE(WEIR_HIGH),
    VALUE(WEIR_URGENT),
    VALUE(WEIR_END_NORMAL),
    VALUE(WEIR_END_SHUTDOWN),
    VALUE(WEIR_END_KILL),
    VALUE(WEIR_END_CRASH),
    VALUE(WEIR_END_REPLACED),
    VALUE(WEIR_BOOL),
    VALUE(WEIR_U32),
    VALUE(WEIR_U64),
    VALUE(WEIR_I64),
    VALUE(WEIR_F64),
    VALUE(WEIR_SIZE),
    VALUE(WEIR_DURATION),
    VALUE(WEIR_STRING),
    VALUE(WEIR_ENUM),
    VALUE(WEIR_LIST),
    VALUE(WEIR_MAP),
    VALUE(WEIR_OK),
    VALUE(WEIR_LOG_ERROR),
    VALUE(WEIR_LOG_WARNING),
    VALUE(WEIR_LOG_INFO),
    VALUE(WEIR_LOG_DEBUG),
    VALUE(WEIR_DONE),
    VALUE(WEIR_RETRY),
    VALUE(WEIR_REJECT),
    VALUE(WEIR_KEEP),
    VALUE(WEIR_STOP),
    VALUE(WEIR_FAIL),
    VALUE(WEIR_MORE),
    VALUE(WEIR_WAIT),
    VALUE(WEIR_END),
    VALUE(WEIR_BLOCKING),
    VALUE(WEIR_EXCLUSIVE),
    VALUE(WEIR_ENDLESS) WEIR_STATUS_LIST(STATUS),

    { 0 },
};

const struct layout_row *LAYOUT_OF(void)
{
    return rows;
}
