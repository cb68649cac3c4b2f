/* SPDX-License-Identifier: MIT */
#include "host/pages/waits.h"

#include <inttypes.h>

#include "base/plural.h"
#include "config/json.h"

static const char *target_of(const struct overview_pool *pool, uint32_t output)
{
    return pool->pools[pool->settings->outputs[output].pool].path;
}

/* False: nobody waits there. */
static bool look(const struct overview_pool *pool, uint32_t output, struct pool_waiting *out)
{
    if (pool->settings->outputs[output].pool == SETTINGS_NONE)
        return false;
    pool_waiting_at(pool->pool, output, out);
    return out->for_room > 0 || out->for_rate > 0;
}

void waits_json(const struct overview_pool *pool, struct json *json)
{
    struct pool_waiting waiting;

    json_begin_array(json, "waits");
    for (uint32_t i = 0; i < pool->settings->output_count; i++) {
        if (!look(pool, i, &waiting))
            continue;
        json_begin_object(json, NULL);
        json_text(json, "output", pool->settings->outputs[i].name);
        json_text(json, "to", target_of(pool, i));
        json_unsigned(json, "for_room", waiting.for_room);
        json_unsigned(json, "for_rate", waiting.for_rate);
        json_end(json);
    }
    json_end(json);
}

void waits_print_retries(const struct overview_pool *pool, FILE *stream)
{
    char reason[128];

    if (pool->settings->nested || pool->stats.retrying == 0)
        return;
    pool_retry_reason(pool->pool, reason, sizeof reason);
    fprintf(stream, "note: pool %s: %" PRIu64 " %s for a retry%s%s\n", pool->settings->path,
            pool->stats.retrying, plural(pool->stats.retrying, "message waits", "messages wait"),
            reason[0] ? ": " : "", reason);
}

static void print_count(const struct overview_pool *pool, uint32_t count, FILE *stream)
{
    fprintf(stream, "note: pool %s: %" PRIu32 " of %" PRIu32 " %s ", pool->settings->path, count,
            pool->stats.target, plural(pool->stats.target, "worker", "workers"));
}

void waits_print(const struct overview_pool *pool, FILE *stream)
{
    struct pool_waiting waiting;

    for (uint32_t i = 0; i < pool->settings->output_count; i++) {
        const char *name = pool->settings->outputs[i].name;

        if (!look(pool, i, &waiting))
            continue;
        if (waiting.for_room > 0) {
            print_count(pool, waiting.for_room, stream);
            fprintf(stream, "%s for room in pool %s (output %s)\n",
                    plural(waiting.for_room, "waits", "wait"), target_of(pool, i), name);
        }
        if (waiting.for_rate > 0) {
            print_count(pool, waiting.for_rate, stream);
            fprintf(stream, "%s for the rate of output %s, to pool %s\n",
                    plural(waiting.for_rate, "waits", "wait"), name, target_of(pool, i));
        }
    }
}
