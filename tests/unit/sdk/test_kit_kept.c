/* SPDX-License-Identifier: MIT */
/*
 * Goal: a kept message may be forwarded and stashed, with the same results in the test kit as in
 * core (promise B12).
 * Method: as test_kit_like_core.c.
 */
#include "both_hosts.h"
#include "unit/host/suite.h"

static void keep_it(struct weir_self *self, struct scene *scene, const struct weir_message *message)
{
    (void)self;
    if (scene->number++ > 0) /* it comes again */
        return;
    scene->kept = message;
    scene->verdict = WEIR_KEEP;
}

static void forward_kept(struct weir_self *self, struct scene *scene,
                         const struct weir_message *message)
{
    (void)message;
    scene_note(scene, "to nobody", weir_forward(self, 0, scene->kept));
    scene_note(scene, "forward", weir_forward(self, scene->other, scene->kept));
}

static void stash_kept(struct weir_self *self, struct scene *scene,
                       const struct weir_message *message)
{
    (void)message;
    scene_note(scene, "stash", weir_stash(self, scene->kept));
    scene_note(scene, "unstash", weir_unstash(self, 9));
}

static void test_kept_messages_are_alike(void)
{
    static const struct scene_step forwarding[] = { { keep_it, 0 },
                                                    { forward_kept, 0 },
                                                    { NULL, 0 } };
    static const struct scene_step stashing[] = { { keep_it, 0 }, { stash_kept, 0 }, { NULL, 0 } };

    both_hosts_compare(forwarding);
    both_hosts_compare(stashing);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "kept", test_kept_messages_are_alike },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: test kit, kept messages", tests);
}
