/* SPDX-License-Identifier: MIT */
/*
 * Goal: a reference means one request, however many others begin and end while it is open.
 *
 * Method: one request is kept, then more others follow than references that can be open at a time,
 * then the answer to the first.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define MANY 300000u /* elsewhere references come round after 262,144 */
#define TIMEOUT_MS 3600000u
#define FIRST_ANSWERED 7000u /* notes of the asker */
#define OTHERS_ANSWERED 7001u

struct fixture {
    struct rig rig;
    struct probe *asking;
    struct probe *answering;
    struct pool *askers;
    struct pool *answerers;
    const struct weir_message *kept;
    uint64_t first;   /* its reference */
    uint32_t left;    /* questions to ask */
    uint32_t repeats; /* of its reference */
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){ .asking = probe_create(), .answering = probe_create(), .left = MANY };
    f->asking->context = f;
    f->answering->context = f;
    f->answering->behaviour.in_hand = 2; /* the one that is kept, and the others */
    rig_init(&f->rig, 1, 0); /* one thread: nobody needs to be woken for each of so many */
    f->answerers = rig_workers(&f->rig, f->answering, "answerers", 1, 16);
    f->askers = rig_workers(&f->rig, f->asking, "askers", 1, 16);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->askers, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->answerers, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->asking);
    probe_destroy(f->answering);
}

/* --- those who answer ------------------------------------------------------------------------ */

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)self;
    f->kept = message;
    return WEIR_KEEP;
}

static int answer_kept(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct weir_message *reply = probe_message(self, (struct order){ .id = FIRST_ANSWERED });

    (void)message;
    CU_ASSERT_EQUAL(weir_reply(self, f->kept, reply), 0);
    return weir_settle(self, f->kept, WEIR_DONE) == 0 ? WEIR_DONE : WEIR_FAIL;
}

static int answer(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct weir_message *reply = probe_message(self, (struct order){ .id = 1 });

    (void)probe;
    return weir_reply(self, message, reply) == 0 ? WEIR_DONE : WEIR_FAIL;
}

/* --- requesters ------------------------------------------------------------------------------ */

static uint64_t request(struct weir_self *self, struct fixture *f, probe_act *act, weir_then *then)
{
    struct weir_message *question = probe_message(self, (struct order){ .act = act });
    uint64_t reference = 0;

    CU_ASSERT_EQUAL_FATAL(
        weir_request(self, f->answerers->pid, question, TIMEOUT_MS, then, f, &reference), 0);
    return reference;
}

static void answered_first(struct weir_self *self, void *state, void *context,
                           const struct weir_reply *reply)
{
    struct fixture *f = context;

    (void)self;
    (void)state;
    CU_ASSERT_EQUAL(reply->reference, f->first);
    if (reply->message)
        probe_note(f->asking, probe_order(reply->message)->id);
}

static void answered_other(struct weir_self *self, void *state, void *context,
                           const struct weir_reply *reply)
{
    struct fixture *f = context;

    (void)state;
    CU_ASSERT_EQUAL_FATAL(reply->status, 0);
    if (--f->left > 0)
        f->repeats += request(self, f, answer, answered_other) == f->first;
    else
        probe_note(f->asking, OTHERS_ANSWERED);
}

static int ask_all(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    f->first = request(self, f, keep, answered_first);
    (void)request(self, f, answer, answered_other);
    return WEIR_DONE;
}

/* promise S6 */
static void test_reference_is_not_used_again_while_it_is_open(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, (struct order){ .act = ask_all }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, OTHERS_ANSWERED, 1));
    CU_ASSERT_EQUAL(f.repeats, 0);
    CU_ASSERT_EQUAL(probe_times(f.asking, FIRST_ANSWERED), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.answerers->pid, (struct order){ .act = answer_kept }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, FIRST_ANSWERED, 1));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "while open", test_reference_is_not_used_again_while_it_is_open },
        CU_TEST_INFO_NULL,
    };

    return suite_run("reference", tests);
}
