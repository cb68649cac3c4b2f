/* SPDX-License-Identifier: MIT */
/* A part of any kind: face/part_ref.h. */
#include "face/part_ref.h"

#include "face/pool.h"
#include "face/source.h"
#include "face/standalone.h"

weir_pid part_ref_pid(struct part_ref part)
{
    switch (part.kind) {
    case PART_POOL:
        return pool_pid(part.pool);
    case PART_STANDALONE:
        return standalone_pid(part.standalone);
    default:
        return source_pid(part.source);
    }
}

const char *part_ref_name(struct part_ref part)
{
    switch (part.kind) {
    case PART_POOL:
        return pool_path(part.pool);
    case PART_STANDALONE:
        return standalone_name(part.standalone);
    default:
        return source_path(part.source);
    }
}

void part_ref_ledger(struct part_ref part, struct ledger_reading *out)
{
    switch (part.kind) {
    case PART_POOL:
        pool_ledger(part.pool, out);
        break;
    case PART_STANDALONE:
        standalone_ledger(part.standalone, out);
        break;
    default:
        source_ledger(part.source, out);
    }
}

struct dead_letter_box part_ref_dead_letters(struct part_ref part)
{
    switch (part.kind) {
    case PART_POOL:
        return pool_dead_letters(part.pool);
    case PART_STANDALONE:
        return standalone_dead_letters(part.standalone);
    default:
        return source_dead_letters(part.source);
    }
}

void part_ref_close(struct part_ref part, struct executor *executor)
{
    switch (part.kind) {
    case PART_POOL:
        if (!pool_is_closing(part.pool))
            pool_close(part.pool, executor);
        break;
    case PART_STANDALONE:
        standalone_close(part.standalone, executor);
        break;
    default:
        source_close(part.source, executor);
    }
}

void part_ref_stop_now(struct part_ref part, struct executor *executor)
{
    switch (part.kind) {
    case PART_POOL:
        pool_stop_now(part.pool, executor);
        break;
    case PART_STANDALONE:
        standalone_stop_now(part.standalone, executor);
        break;
    default:
        source_stop_now(part.source, executor);
    }
}

bool part_ref_has_ended(struct part_ref part)
{
    switch (part.kind) {
    case PART_POOL:
        return pool_has_ended(part.pool);
    case PART_STANDALONE:
        return standalone_has_ended(part.standalone);
    default:
        return source_has_ended(part.source);
    }
}

bool part_ref_admits_nothing(struct part_ref part)
{
    if (part_ref_has_ended(part))
        return false;
    if (part.kind == PART_POOL)
        return pool_admits_nothing(part.pool);
    return part.kind == PART_STANDALONE && standalone_opening(part.standalone) < 0;
}
