/* SPDX-License-Identifier: MIT */
#include "base/lock_rank.h"

const char *lock_rank_name(enum lock_rank rank)
{
    static const char *const names[] = {
#define LOCK_RANK_TEXT(name, text) [LOCK_##name] = text,
        LOCK_RANKS(LOCK_RANK_TEXT)
#undef LOCK_RANK_TEXT
    };

    return names[rank];
}
