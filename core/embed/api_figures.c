/* SPDX-License-Identifier: MIT */
/* Pausing pools, reading members, dead letters and figures: see weir/runtime.h. */
#include <stdlib.h>
#include <string.h>

#include "embed/part.h"

#define NS_PER_MS 1000000u
#define DEAD_LETTERS_MANY 65536u /* read at a time: enough for a list that a person reads */

/* Copies `size` bytes of `known`, up to `known_size`; both structs begin with their size. */
static void give_out(void *out, uint32_t size, void *known, uint32_t known_size)
{
    uint32_t given = size < known_size ? size : known_size;

    *(uint32_t *)known = given;
    memcpy(out, known, given);
}

/* --- pools ---------------------------------------------------------------------------------- */

static int pause_part(struct part *part, bool paused)
{
    struct executor *executor = runtime_enter(part->runtime->core);

    if (!executor)
        return WEIR_ENOMEM;
    if (part->kind == PART_POOL)
        pool_pause(part->pool, paused, executor);
    else
        source_pause(part->source, paused, executor);
    runtime_leave(executor);
    return 0;
}

static int set_paused(struct weir_runtime *runtime, weir_pid pid, bool paused)
{
    struct part *part = part_find(runtime, pid);
    int status = WEIR_EUNKNOWN;

    if (part && part->kind != PART_STANDALONE)
        status = pause_part(part, paused);
    part_unref(part);
    return status;
}

int weir_runtime_pause(struct weir_runtime *runtime, weir_pid pool)
{
    return set_paused(runtime, pool, true);
}

int weir_runtime_resume(struct weir_runtime *runtime, weir_pid pool)
{
    return set_paused(runtime, pool, false);
}

int weir_runtime_members_sized(struct weir_runtime *runtime, weir_pid pool, struct weir_member *out,
                               uint32_t member_size, uint32_t max, uint32_t *out_count)
{
    struct part *part = part_find_pool(runtime, pool);

    if (!part)
        return WEIR_EUNKNOWN;
    *out_count = pool_members(part->pool, out, member_size, max);
    part_unref(part);
    return 0;
}

/* --- dead letters --------------------------------------------------------------------------- */

_Static_assert(sizeof((struct weir_dead_letter){ 0 }.detail) == DEAD_LETTER_DETAIL,
               "a detail is copied as it is");

static void show_letter(const struct dead_letter *letter, uint64_t now_ns,
                        struct weir_dead_letter *out)
{
    *out = (struct weir_dead_letter){
        .number = letter->number,
        .reason = dead_reason_name(letter->reason),
        .tag = letter->tag,
        .payload_size = letter->size,
        .age_ms = now_ns > letter->when_ns ? (now_ns - letter->when_ns) / NS_PER_MS : 0,
        .key = letter->key,
        .from = letter->from,
        .attempt = letter->attempt,
        .lane = letter->lane,
        .whole = letter->whole,
    };
    if (letter->whole)
        out->head_size = letter->size < sizeof out->head ? (uint32_t)letter->size
                                                         : (uint32_t)sizeof out->head;
    memcpy(out->head, letter->head, out->head_size);
    memcpy(out->detail, letter->detail, sizeof out->detail);
}

static uint32_t show_letters(struct part *part, struct dead_letter *letters,
                             struct weir_dead_letter *out, uint32_t letter_size, uint32_t max)
{
    struct clock clock = clock_monotonic();
    uint32_t count = dead_letters_read(part_ref_dead_letters(part_ref(part)).letters, letters, max);
    uint64_t now_ns = clock_now_ns(&clock);

    for (uint32_t i = 0; i < count; i++) {
        struct weir_dead_letter letter;
        char *at = (char *)out + (size_t)i * letter_size;

        show_letter(&letters[i], now_ns, &letter);
        memcpy(at, &letter, letter_size < sizeof letter ? letter_size : sizeof letter);
    }
    return count;
}

static uint32_t count_kept(struct part *part)
{
    struct dead_letters_figures figures = { 0 };

    dead_letters_figures(part_ref_dead_letters(part_ref(part)).letters, &figures);
    return figures.kept;
}

int weir_runtime_dead_letters_sized(struct weir_runtime *runtime, weir_pid pid,
                                    struct weir_dead_letter *out, uint32_t letter_size,
                                    uint32_t max, uint32_t *out_count)
{
    uint32_t wanted = max < DEAD_LETTERS_MANY ? max : DEAD_LETTERS_MANY;
    struct part *part = part_find(runtime, pid);
    struct dead_letter *letters = part ? calloc(wanted + 1u, sizeof *letters) : NULL;
    int status = part ? WEIR_ENOMEM : WEIR_EUNKNOWN;

    if (letters) {
        uint32_t shown = show_letters(part, letters, out, letter_size, wanted);
        uint32_t kept = count_kept(part);

        *out_count = kept > shown ? kept : shown; /* the number may have changed in between */
        status = 0;
    }
    free(letters);
    part_unref(part);
    return status;
}

int weir_runtime_replay(struct weir_runtime *runtime, weir_pid pid, struct weir_replayed *out)
{
    struct part *part = part_find(runtime, pid);
    bool can_show = !out || out->size >= sizeof *out;
    struct executor *executor = part && can_show ? runtime_enter(runtime->core) : NULL;
    struct replay_result result = { 0 };
    int status = !can_show ? WEIR_EINVALID : part ? WEIR_ENOMEM : WEIR_EUNKNOWN;

    if (executor) {
        struct dead_letter_box box = part_ref_dead_letters(part_ref(part));

        dead_letter_box_replay(runtime->core, executor, &box, &result);
        runtime_leave(executor);
        status = 0;
    }
    part_unref(part);
    if (status == 0 && out) {
        struct weir_replayed replayed = { .replayed = result.replayed,
                                          .left = result.left,
                                          .unable = result.unable,
                                          .status = result.status };

        give_out(out, out->size, &replayed, sizeof replayed);
    }
    return status;
}

/* --- the runtime ---------------------------------------------------------------------------- */

int weir_runtime_figures(struct weir_runtime *runtime, struct weir_runtime_figures *out)
{
    struct runtime_figures core;
    struct weir_runtime_figures figures;

    runtime_figures(runtime->core, &core);
    figures = (struct weir_runtime_figures){
        .escalated = core.escalated,
        .late_replies = core.late_replies,
        .late_notices = core.late_notices,
        .memory_limit = core.memory_limit,
        .memory = core.memory,
        .memory_refused = core.memory_refused,
    };
    if (out->size < sizeof figures)
        return WEIR_EINVALID;
    give_out(out, out->size, &figures, sizeof figures);
    return 0;
}

int weir_runtime_ready(struct weir_runtime *runtime, uint64_t token, int readiness)
{
    return runtime_ready(runtime->core, token, readiness);
}
