/* SPDX-License-Identifier: MIT */
#include "both_hosts.h"
#include "pool/ending.h"

#include <stdlib.h>
#include <string.h>

#include <weir/testkit.h>

#include "actor/send.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define STEPS 64u

/* The payload of a message: the act of `handle`. */
struct call {
    scene_call *run;
    struct scene *scene;
};

void scene_note(struct scene *scene, const char *what, int64_t value)
{
    int length = snprintf(scene->lines + scene->used, SCENE_LINES_SIZE - scene->used, "%s %lld\n",
                          what, (long long)value);

    CU_ASSERT_FATAL(length > 0 && scene->used + (size_t)length < SCENE_LINES_SIZE);
    scene->used += (size_t)length;
}

/* --- the behaviour ---------------------------------------------------------------------------- */

static int open_it(struct weir_self *self, const void *settings, void *state)
{
    struct scene *scene = (struct scene *)(uintptr_t)settings;

    *(struct scene **)state = scene;
    if (scene->in_open)
        scene->in_open(self, scene, NULL);
    return 0;
}

static void close_it(struct weir_self *self, void *state, int reason)
{
    struct scene *scene = *(struct scene **)state;

    (void)reason;
    if (scene->in_close)
        scene->in_close(self, scene, NULL);
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct call call;

    (void)state;
    if (message->kind > WEIR_EVENT)
        return WEIR_DONE;
    memcpy(&call, message->data, sizeof call);
    call.scene->verdict = WEIR_DONE;
    call.run(self, call.scene, message);
    return call.scene->verdict;
}

static void undelivered(struct weir_self *self, void *state, const struct weir_undelivered *what)
{
    struct scene *scene = *(struct scene **)state;

    scene_note(scene, "undelivered", what->status);
    scene_note(scene, "undelivered at", (int64_t)(weir_now_ms(self) - scene->start_ms));
}

static int take(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_KEEP;
}

static const struct weir_output outputs[] = { { .name = "out", .help = "nothing" }, { 0 } };

static const struct weir_behaviour behaviours[] = {
    { .name = "calls",
      .outputs = outputs,
      .in_hand = 4,
      .state_size = sizeof(struct scene *),
      .open = open_it,
      .handle = handle,
      .close = close_it,
      .undelivered = undelivered },
    { .name = "takes", .in_hand = 100, .handle = take },
    { 0 },
};

WEIR_PLUGIN("calls", "1.0.0", behaviours);

/* --- the two hosts ---------------------------------------------------------------------------- */

static void play_in_kit(struct scene *scene, const struct scene_step *steps)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "calls");

    scene->other = 5;
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, scene), 0);
    for (; steps->run || steps->advance_ms; steps++) {
        const struct call call = { steps->run, scene };

        if (steps->run)
            (void)weir_kit_handle(kit, "call/1", &call, sizeof call);
        else
            weir_kit_advance(kit, steps->advance_ms);
        (void)weir_kit_handle_unstashed(kit);
    }
    (void)weir_kit_destroy(kit);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static struct pool *make_pool(struct rig *rig, const struct weir_behaviour *behaviour,
                              struct scene *scene)
{
    const struct binding binding = { scene ? scene->other : 0, WEIR_FULL_WAIT };
    struct pool_options options = { .path = behaviour->name, .size = 1 };
    struct pool *pool;

    if (scene && scene->is_full) {
        options.output_count = 1;
        options.outputs = &binding;
    }

    options.spec = spec_create(behaviour, scene);
    CU_ASSERT_PTR_NOT_NULL_FATAL(options.spec);
    pool = rig_pool(rig, &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    spec_unref(options.spec);
    (void)rig_step(rig, never, NULL, STEPS);
    return pool;
}

static void pause_pool(struct rig *rig, struct pool *pool)
{
    struct executor *executor = runtime_enter(rig->runtime);

    pool_pause(pool, true, executor);
    runtime_leave(executor);
}

static void give(struct rig *rig, struct pool *pool, const struct call *call)
{
    struct executor *executor = runtime_enter(rig->runtime);
    const struct weir_tag *tag = tag_table_get(&rig->runtime->tags, "call/1");
    struct message *message = message_create(&executor->cache, tag, sizeof *call);

    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    memcpy(message->public.data, call, sizeof *call);
    CU_ASSERT_EQUAL(send_message(rig->runtime, executor, pool->pid, WEIR_NORMAL, message), 0);
    runtime_leave(executor);
    (void)rig_step(rig, never, NULL, STEPS);
}

static void advance(struct rig *rig, uint64_t ms)
{
    while (ms-- > 0) {
        atomic_fetch_add(&rig->now_ns, 1000000u);
        (void)rig_step(rig, never, NULL, STEPS);
    }
}

static bool has_ended(void *context)
{
    return pool_has_ended(context);
}

static void end_pool(struct rig *rig, struct pool *pool)
{
    struct executor *executor = runtime_enter(rig->runtime);

    pool_kill(pool, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_step(rig, has_ended, pool, 16 * STEPS));
    (void)rig_end(rig, pool, NULL);
}

static void play_on_core(struct scene *scene, const struct scene_step *steps)
{
    struct pool *pool, *other;
    struct rig rig;

    rig_init_still(&rig, 1, 0);
    other = make_pool(&rig, &behaviours[1], NULL);
    scene->other = other->pid;
    if (scene->is_full)
        pause_pool(&rig, other);
    pool = make_pool(&rig, &behaviours[0], scene);
    for (; steps->run || steps->advance_ms; steps++) {
        const struct call call = { steps->run, scene };

        if (steps->run)
            give(&rig, pool, &call);
        else
            advance(&rig, steps->advance_ms);
    }
    end_pool(&rig, pool);
    end_pool(&rig, other);
    rig_finish(&rig);
}

static void compare(const struct scene *scene, const struct scene_step *steps)
{
    struct scene *kit = calloc(1, sizeof *kit);
    struct scene *core = calloc(1, sizeof *core);

    CU_ASSERT_FATAL(kit && core);
    *kit = *scene;
    *core = *scene;
    play_in_kit(kit, steps);
    play_on_core(core, steps);
    CU_ASSERT(core->used > 0);
    CU_ASSERT_STRING_EQUAL(kit->lines, core->lines);
    if (strcmp(kit->lines, core->lines) != 0)
        (void)printf("\n--- the kit\n%s--- core\n%s", kit->lines, core->lines);
    free(kit);
    free(core);
}

void both_hosts_compare(const struct scene_step *steps)
{
    compare(&(struct scene){ .used = 0 }, steps);
}

void both_hosts_compare_full(const struct scene_step *steps)
{
    compare(&(struct scene){ .is_full = true }, steps);
}

void both_hosts_compare_life(scene_call *in_open, scene_call *in_close)
{
    compare(&(struct scene){ .in_open = in_open, .in_close = in_close },
            &(struct scene_step){ NULL, 0 });
}
