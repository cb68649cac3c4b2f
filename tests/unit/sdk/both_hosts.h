/* SPDX-License-Identifier: MIT */
/*
 * both_hosts.h - runs a scene of host calls twice, in the test kit and on core, and compares.
 *
 * A scene is a list of steps for one worker. Steps and callbacks write down each result with
 * scene_note. Not synchronised.
 */
#ifndef TESTS_UNIT_SDK_BOTH_HOSTS_H
#define TESTS_UNIT_SDK_BOTH_HOSTS_H

#include <weir/plugin.h>

#define SCENE_LINES_SIZE 8192

struct scene;

/* `message` is NULL in `open` and `close`. */
typedef void scene_call(struct weir_self *self, struct scene *scene,
                        const struct weir_message *message);

struct scene {
    scene_call *in_open; /* or NULL */
    scene_call *in_close;
    bool is_full; /* the pool behind the output has no room */
    char lines[SCENE_LINES_SIZE];
    size_t used;
    weir_pid other; /* an actor that keeps everything */
    uint64_t start_ms;
    int verdict; /* the verdict of `handle` for the present message */
    uint64_t number;
    const struct weir_message *kept;
};

/* One step: a message that makes the worker call `run`, or, without it, so much time. */
struct scene_step {
    scene_call *run;
    uint64_t advance_ms;
};

/* Writes down an event. */
void scene_note(struct scene *scene, const char *what, int64_t value);

/* Runs the steps, which end with a zeroed one, in both. Asserts that the kit's notes equal
 * core's. */
void both_hosts_compare(const struct scene_step *steps);
/* As both_hosts_compare; the pool behind the output has no room. */
void both_hosts_compare_full(const struct scene_step *steps);
/* As both_hosts_compare, for the calls in `open` and in `close`; the second may be NULL. */
void both_hosts_compare_life(scene_call *in_open, scene_call *in_close);

#endif
