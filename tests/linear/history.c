/* SPDX-License-Identifier: MIT */
#include "linear/history.h"

#include <inttypes.h>
#include <stdio.h>

#include <weir/status.h>

static void print_answer(const struct step *step)
{
    const char *answer = step->status == 0 ? "ok" : weir_status_name(step->status);

    switch (step->kind) {
    case STEP_SEND:
        (void)fprintf(stderr, "send: %s, worker %u\n", answer, step->worker);
        break;
    case STEP_RESIZE:
        (void)fprintf(stderr, "resize to %u: %s, by %u, epoch %u\n", step->size, answer,
                      step->changed, step->epoch);
        break;
    case STEP_GET:
        (void)fprintf(stderr, "get: target %u, live %u, epoch %u, accepted %u%s\n", step->size,
                      step->live, step->epoch, step->accepted, step->paused ? ", paused" : "");
        break;
    case STEP_PAUSE:
        (void)fprintf(stderr, "%s\n", step->paused ? "pause" : "resume");
        break;
    case STEP_CLOSE:
        (void)fprintf(stderr, "close\n");
        break;
    case STEP_OPENED:
        (void)fprintf(stderr, "worker %u opens\n", step->worker);
        break;
    case STEP_TOOK:
        (void)fprintf(stderr, "worker %u takes a message\n", step->worker);
        break;
    case STEP_LOOKS:
        (void)fprintf(stderr, "looks for room\n");
        break;
    }
}

static void print_step(const struct step *step)
{
    if (step->ended == HISTORY_NEVER)
        (void)fprintf(stderr, "  %4u ...  ", step->began);
    else
        (void)fprintf(stderr, "  %4u %4u ", step->began, step->ended);
    (void)fprintf(stderr, "%*s", (int)(step->thread * 4u), "");
    print_answer(step);
}

void history_print(const struct history *history)
{
    uint64_t printed = 0;

    (void)fprintf(stderr, "seed %" PRIu64 ": %s, %u workers, limit %u; from, to, what\n",
                  history->seed, history->pulls ? "pull" : "a mailbox each", history->size,
                  history->limit);
    for (uint32_t round = 0; round < history->count; round++) {
        uint32_t next = 0;

        while (printed >> next & 1)
            next++;
        for (uint32_t i = next + 1; i < history->count; i++)
            if (!(printed >> i & 1) && history->steps[i].began < history->steps[next].began)
                next = i;
        printed |= 1ull << next;
        print_step(&history->steps[next]);
    }
}
