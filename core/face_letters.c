/* The dead letters of parts: face/letters.h. */
#include "actor/replay.h"
#include "actor/single.h"
#include "actor/source.h"
#include "pool/outlet.h"
#include "pool/pool.h"

struct letter_box pool_letters(struct pool *pool)
{
    return (struct letter_box){ &pool->dead, outlet_present(&pool->outlets), pool->pid };
}

/* A source has no mailbox: its dead letters go where its outputs lead. */
struct letter_box source_letters(struct source *source)
{
    return (struct letter_box){ &source->dead, &source->wiring, 0 };
}

struct letter_box single_letters(struct single *single)
{
    return (struct letter_box){ &single->dead, &single->wiring, single->pid };
}

void letter_box_replay(struct runtime *runtime, struct executor *executor,
                       const struct letter_box *box, struct replay_result *out)
{
    replay(runtime, executor, box->letters, box->wiring, box->target, out);
}
