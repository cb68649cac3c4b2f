/* SPDX-License-Identifier: MIT */
/* The dead letters of parts: face/dead_letters.h. */
#include "actor/replay.h"
#include "actor/source.h"
#include "actor/standalone.h"
#include "pool/outlet.h"
#include "pool/pool.h"

struct dead_letter_box pool_dead_letters(struct pool *pool)
{
    return (struct dead_letter_box){ &pool->dead, outlet_present(&pool->outlets), pool->pid };
}

/* A source has no mailbox: its dead letters go where its outputs lead. */
struct dead_letter_box source_dead_letters(struct source *source)
{
    return (struct dead_letter_box){ &source->dead, &source->wiring, 0 };
}

struct dead_letter_box standalone_dead_letters(struct standalone *standalone)
{
    return (struct dead_letter_box){ &standalone->dead, &standalone->wiring, standalone->pid };
}

void dead_letter_box_replay(struct runtime *runtime, struct executor *executor,
                            const struct dead_letter_box *box, struct replay_result *out)
{
    replay(runtime, executor, box->letters, box->wiring, box->target, out);
}
