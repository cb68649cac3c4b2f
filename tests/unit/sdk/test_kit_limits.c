/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit has the limits of core (promise B12): the outbox, tags, sizes, times.
 * Method: one behaviour goes past each limit, in the kit and on core (both_hosts.h). Outputs lead
 * to a pool that is paused: in core nothing leaves the outbox.
 */
#include <string.h>

#include "both_hosts.h"
#include "unit/host/suite.h"

#define EMITS 1000u

/* --- the outbox ------------------------------------------------------------------------------- */

/* Writes down how many messages the output takes, and the refusal of the next one. */
static void emit_many(struct weir_self *self, struct scene *scene,
                      const struct weir_message *message)
{
    uint32_t taken = 0;
    int status = 0;

    (void)message;
    while (taken < EMITS && status == 0) {
        struct weir_message *made = weir_message_new(self, NULL, 0);

        status = weir_emit(self, 0, made);
        if (status == 0)
            taken++;
        else
            weir_message_free(self, made);
    }
    scene_note(scene, "taken", taken);
    scene_note(scene, "status", status);
}

static void on_tick(struct weir_self *self, void *state, void *context)
{
    (void)state;
    emit_many(self, context, NULL);
}

static void arm(struct weir_self *self, struct scene *scene, const struct weir_message *message)
{
    (void)message;
    scene_note(scene, "after", weir_after(self, 5, on_tick, scene, NULL));
}

static void test_outbox_holds_as_many(void)
{
    static const struct scene_step in_handle[] = { { emit_many, 0 }, { NULL, 0 } };
    static const struct scene_step in_timer[] = { { arm, 0 }, { NULL, 20 }, { NULL, 0 } };

    both_hosts_compare_full(in_handle);
    both_hosts_compare_full(in_timer);
}

/* --- names, sizes, times ---------------------------------------------------------------------- */

static void make_tags(struct weir_self *self, struct scene *scene,
                      const struct weir_message *message)
{
    char name[130];

    (void)message;
    memset(name, 't', sizeof name);
    name[129] = '\0';
    scene_note(scene, "tag of 129", weir_tag(self, name) != NULL);
    name[128] = '\0';
    scene_note(scene, "tag of 128", weir_tag(self, name) != NULL);
    scene_note(scene, "tag without name", weir_tag(self, "") != NULL);
    scene_note(scene, "tag of NULL", weir_tag(self, NULL) != NULL);
}

static void make_huge(struct weir_self *self, struct scene *scene,
                      const struct weir_message *message)
{
    (void)message;
    scene_note(scene, "huge message", weir_message_new(self, NULL, SIZE_MAX) != NULL);
    scene_note(scene, "huge labelled",
               weir_message_new_labelled(self, NULL, SIZE_MAX, "label") != NULL);
    scene_note(scene, "huge blob", weir_blob_new(self, SIZE_MAX) != NULL);
}

static void never_tick(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    scene_note(context, "tick", 1);
}

static void never_reply(struct weir_self *self, void *state, void *context,
                        const struct weir_reply *reply)
{
    (void)self;
    (void)state;
    scene_note(context, "reply", reply->status);
}

static void arm_for_ever(struct weir_self *self, struct scene *scene,
                         const struct weir_message *message)
{
    struct weir_message *later = weir_message_new(self, NULL, 0);
    struct weir_message *asks = weir_message_new(self, NULL, 0);

    (void)message;
    scene_note(scene, "after", weir_after(self, UINT64_MAX, never_tick, scene, NULL));
    scene_note(scene, "every", weir_every(self, UINT64_MAX, never_tick, scene, NULL));
    scene_note(scene, "send after", weir_send_after(self, 0, later, UINT64_MAX, NULL));
    scene_note(scene, "request",
               weir_request(self, scene->other, asks, UINT64_MAX, never_reply, scene, NULL));
}

static void test_names_sizes_and_times_have_the_same_bounds(void)
{
    static const struct scene_step tags[] = { { make_tags, 0 }, { NULL, 0 } };
    static const struct scene_step sizes[] = { { make_huge, 0 }, { NULL, 0 } };

    both_hosts_compare(tags);
    both_hosts_compare(sizes);
}

static void test_longest_times_do_not_wrap(void)
{
    static const struct scene_step times[] = {
        { NULL, 20 }, { arm_for_ever, 0 }, { NULL, 20 }, { NULL, 0 }
    };

    both_hosts_compare(times);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "the outbox", test_outbox_holds_as_many },
        { "names and sizes", test_names_sizes_and_times_have_the_same_bounds },
        { "times", test_longest_times_do_not_wrap },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: test kit, limits of core", tests);
}
