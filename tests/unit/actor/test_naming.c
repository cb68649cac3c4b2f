/* SPDX-License-Identifier: MIT */
/*
 * Goal: a name that an actor takes in `open` is reserved at once, but found only after the open has
 * succeeded: not while it runs, not when it fails, and not before a reload's commit. The path of
 * its pool or source stays registered when its incarnation ends.
 *
 * Method: workers wait at a gate inside `open`, after they took a name; the test looks up and takes
 * names meanwhile.
 */
#include "actor/find.h"
#include "actor/lifecycle.h"
#include "actor/source.h"
#include "pool/change.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct spec *spec;
    struct pool *pool;
    struct probe *other; /* a worker who may take names as ordered */
    struct pool *others;
};

static int name_and_wait(struct weir_self *self, struct probe *probe)
{
    CU_ASSERT_EQUAL(weir_name(self, "clerk"), 0);
    CU_ASSERT_EQUAL(weir_name(self, "clerk"), WEIR_EEXISTS);
    return gate_pass(&probe->gate) ? 0 : WEIR_ETIMEOUT;
}

static int rename_and_wait(struct weir_self *self, struct probe *probe)
{
    CU_ASSERT_EQUAL(weir_name(self, "draft"), 0);
    CU_ASSERT_EQUAL(weir_rename(self, "draft", "clerk"), 0);
    CU_ASSERT_EQUAL(weir_rename(self, "draft", "else"), WEIR_EUNKNOWN);
    return gate_pass(&probe->gate) ? 0 : WEIR_ETIMEOUT;
}

static int name_and_fail(struct weir_self *self, struct probe *probe)
{
    int status = weir_name(self, "clerk");

    probe->opens = NULL;
    CU_ASSERT_EQUAL(status, 0);
    return WEIR_ENOMEM;
}

/* Takes the name that the order's argument points to, and notes the answer. */
static int take_name(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    const char *name = (const char *)(uintptr_t)probe_order(message)->argument;

    probe_note(probe, 100 + (uint64_t)-weir_name(self, name));
    return WEIR_DONE;
}

static void begin(struct fixture *f, int (*opens)(struct weir_self *, struct probe *))
{
    f->probe = probe_create();
    f->probe->opens = opens;
    f->other = probe_create();
    rig_init(&f->rig, 2, 0);
    f->others = rig_workers(&f->rig, f->other, "others", 1, 8);
    f->spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig,
                       &(struct pool_options){
                           .path = "pool", .spec = f->spec, .size = 1, .settings.mailbox = 4 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
}

static void finish(struct fixture *f)
{
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->others, NULL));
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    probe_destroy(f->other);
}

/* The PID of a name; 0: none. */
static weir_pid find(struct fixture *f, const char *name)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    weir_pid pid = 0;
    int status = names_find(&f->rig.runtime->names, name, &pid);

    CU_ASSERT_TRUE(status == 0 || status == WEIR_EUNKNOWN);
    runtime_leave(executor);
    return pid;
}

/* The status of another worker that wants this name. */
static int other_takes(struct fixture *f, const char *name)
{
    const struct order order = { .act = take_name, .argument = (uintptr_t)name };
    uint32_t count = probe_count(f->other);

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->others->pid, order), 0);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->others));
    return -(int)(probe_get(f->other, count + 1) - 100);
}

/* promise A18 */
static void test_name_is_taken_at_once_and_found_after_open(void)
{
    struct fixture f;

    begin(&f, name_and_wait);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(find(&f, "clerk"), 0);
    CU_ASSERT_EQUAL(other_takes(&f, "clerk"), WEIR_EEXISTS);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(find(&f, "clerk"), rig_worker(f.pool, 0));
    CU_ASSERT_EQUAL(rig_send(&f.rig, find(&f, "clerk"), (struct order){ .id = 1 }), 0);
    finish(&f);
}

/* promise A18 */
static void test_renaming_in_open_is_found_after_it_too(void)
{
    struct fixture f;

    begin(&f, rename_and_wait);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(find(&f, "draft"), 0);
    CU_ASSERT_EQUAL(find(&f, "clerk"), 0);
    CU_ASSERT_EQUAL(other_takes(&f, "clerk"), WEIR_EEXISTS);
    CU_ASSERT_EQUAL(other_takes(&f, "draft"), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(find(&f, "clerk"), rig_worker(f.pool, 0));
    CU_ASSERT_EQUAL(find(&f, "draft"), rig_worker(f.others, 0));
    finish(&f);
}

static bool has_refused(void *context)
{
    struct fixture *f = context;

    return actor_state(actor_find(f->rig.runtime, rig_worker(f->pool, 0))) == ACTOR_WAITING;
}

/* promise A18 */
static void test_name_of_a_failed_open_is_found_by_nobody_and_free(void)
{
    struct fixture f;

    begin(&f, name_and_fail);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_refused, &f));
    CU_ASSERT_EQUAL(find(&f, "clerk"), 0);
    CU_ASSERT_EQUAL(other_takes(&f, "clerk"), 0);
    CU_ASSERT_EQUAL(find(&f, "clerk"), rig_worker(f.others, 0));
    finish(&f);
}

static int name_only(struct weir_self *self, struct probe *probe)
{
    (void)probe;
    return weir_name(self, "clerk");
}

/* A second worker, prepared by a change, which has opened; the first one has no name. */
static struct pool_change *prepare_another(struct fixture *f)
{
    const struct pool_change_options options = { .size = 2, .settings.mailbox = 4 };
    struct executor *executor;
    struct pool_change *change = NULL;

    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    f->probe->opens = name_only;
    executor = runtime_enter(f->rig.runtime);
    CU_ASSERT_EQUAL(pool_change_prepare(f->pool, executor, &options, &change), 0);
    runtime_leave(executor);
    return change;
}

static bool both_have_opened(void *context)
{
    return atomic_load(&((struct fixture *)context)->probe->opened) == 2;
}

static bool is_let_in(void *context)
{
    return find(context, "clerk") != 0;
}

/* promise A18 */
static void test_name_of_a_prepared_worker_is_found_after_the_commit(void)
{
    struct fixture f;
    struct pool_change *change;
    struct executor *executor;

    begin(&f, NULL);
    change = prepare_another(&f);
    CU_ASSERT_TRUE(rig_wait(&f.rig, both_have_opened, &f));
    CU_ASSERT_EQUAL(other_takes(&f, "clerk"), WEIR_EEXISTS);
    CU_ASSERT_EQUAL(find(&f, "clerk"), 0);
    executor = runtime_enter(f.rig.runtime);
    pool_change_commit(change, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_let_in, &f));
    CU_ASSERT_EQUAL(find(&f, "clerk"), rig_worker(f.pool, 1));
    finish(&f);
}

static bool is_free(void *context)
{
    return other_takes(context, "clerk") == 0;
}

/* promise A18 */
static void test_name_of_a_prepared_worker_is_free_after_the_abort(void)
{
    struct fixture f;
    struct pool_change *change;
    struct executor *executor;

    begin(&f, NULL);
    change = prepare_another(&f);
    CU_ASSERT_TRUE(rig_wait(&f.rig, both_have_opened, &f));
    executor = runtime_enter(f.rig.runtime);
    pool_change_abort(change, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_free, &f));
    CU_ASSERT_EQUAL(find(&f, "clerk"), rig_worker(f.others, 0));
    finish(&f);
}

/* --- names that are not its own -------------------------------------------------------------- */

/* A source that has a name of its own too, and fails once. */
static int open_named(struct weir_self *self, const void *settings, void *state)
{
    (void)state;
    atomic_fetch_add((_Atomic uint32_t *)(uintptr_t)settings, 1);
    CU_ASSERT_EQUAL(weir_rename(self, "feed", "mine"), WEIR_EUNKNOWN);
    return weir_name(self, "clerk");
}

static int produce_and_fail(struct weir_self *self, void *state, uint32_t credit)
{
    (void)self;
    (void)state;
    (void)credit;
    return WEIR_ENOMEM;
}

static bool has_opened_again(void *context)
{
    return atomic_load((_Atomic uint32_t *)context) > 1;
}

static bool is_over(void *context)
{
    return atomic_load(&((struct source *)context)->ended);
}

static void end_source(struct fixture *f, struct source *source)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    source_close(source, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_over, source));
    CU_ASSERT_EQUAL(find(f, "feed"), 0);
    CU_ASSERT_EQUAL(find(f, "clerk"), 0);
    executor = runtime_enter(f->rig.runtime);
    source_destroy(source, executor);
    runtime_leave(executor);
}

/* promise A5 */
static void test_path_of_a_source_stays_when_its_incarnation_ends(void)
{
    static const struct weir_behaviour behaviour = { .name = "named",
                                                     .open = open_named,
                                                     .produce = produce_and_fail };
    _Atomic uint32_t opened = 0;
    struct fixture f;
    struct spec *spec;
    struct source *source = NULL;
    struct executor *executor;

    begin(&f, NULL);
    spec = spec_create(&behaviour, &opened);
    spec->restart.max = UINT32_MAX;
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL_FATAL(source_create(f.rig.runtime, executor,
                                        &(struct source_options){ .path = "feed",
                                                                  .dispatcher = f.rig.dispatcher,
                                                                  .spec = spec,
                                                                  .target = f.pool->pid,
                                                                  .output_count = 1,
                                                                  .registered = true },
                                        &source),
                          0);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_opened_again, &opened));
    CU_ASSERT_EQUAL(find(&f, "feed"), source->pid);
    end_source(&f, source);
    spec_unref(spec);
    finish(&f);
}

static int open_clerk(struct weir_self *self, const void *settings, void *state)
{
    (void)settings;
    (void)state;
    return weir_name(self, "clerk");
}

static int produce_nothing(struct weir_self *self, void *state, uint32_t credit)
{
    (void)self;
    (void)state;
    (void)credit;
    return WEIR_WAIT;
}

static struct source *make_held_source(struct fixture *f, const char *path)
{
    static const struct weir_behaviour behaviour = { .name = "held",
                                                     .open = open_clerk,
                                                     .produce = produce_nothing };
    struct spec *spec = spec_create(&behaviour, NULL);
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct source *source = NULL;

    CU_ASSERT_EQUAL_FATAL(source_create(f->rig.runtime, executor,
                                        &(struct source_options){ .path = path,
                                                                  .dispatcher = f->rig.dispatcher,
                                                                  .spec = spec,
                                                                  .target = f->pool->pid,
                                                                  .output_count = 1,
                                                                  .waits_for_go = true },
                                        &source),
                          0);
    runtime_leave(executor);
    spec_unref(spec);
    return source;
}

static bool source_is_open(void *context)
{
    return source_opening(context) == 0;
}

/* promise A18 */
static void test_name_of_a_waiting_source_is_found_once_it_goes(void)
{
    struct fixture f;
    struct source *source;
    struct executor *executor;

    begin(&f, NULL);
    source = make_held_source(&f, "feed");
    CU_ASSERT_TRUE(rig_wait(&f.rig, source_is_open, source));
    CU_ASSERT_EQUAL(other_takes(&f, "clerk"), WEIR_EEXISTS); /* after its turn, too */
    CU_ASSERT_EQUAL(find(&f, "clerk"), 0);
    executor = runtime_enter(f.rig.runtime);
    source_go(source, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_let_in, &f));
    CU_ASSERT_EQUAL(find(&f, "clerk"), source->pid);
    end_source(&f, source);
    finish(&f);
}

/* promise A18: it is to go on where another ends, which has not ended yet. */
static void test_name_of_a_successor_is_found_after_the_commit(void)
{
    struct fixture f;
    struct source *first, *successor;
    struct executor *executor;

    begin(&f, NULL);
    successor = make_held_source(&f, "feed");
    CU_ASSERT_TRUE(rig_wait(&f.rig, source_is_open, successor));
    first = make_held_source(&f, "first"); /* its name is taken, so it does not open */
    executor = runtime_enter(f.rig.runtime);
    source_succeed(first, successor, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_let_in, &f));
    CU_ASSERT_EQUAL(find(&f, "clerk"), successor->pid);
    executor = runtime_enter(f.rig.runtime);
    source_close(first, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, first));
    executor = runtime_enter(f.rig.runtime);
    source_destroy(first, executor);
    runtime_leave(executor);
    end_source(&f, successor);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "open", test_name_is_taken_at_once_and_found_after_open },
        { "rename", test_renaming_in_open_is_found_after_it_too },
        { "failed", test_name_of_a_failed_open_is_found_by_nobody_and_free },
        { "commit", test_name_of_a_prepared_worker_is_found_after_the_commit },
        { "abort", test_name_of_a_prepared_worker_is_free_after_the_abort },
        { "waiting source", test_name_of_a_waiting_source_is_found_once_it_goes },
        { "successor", test_name_of_a_successor_is_found_after_the_commit },
        { "path", test_path_of_a_source_stays_when_its_incarnation_ends },
        CU_TEST_INFO_NULL,
    };

    return suite_run("naming", tests);
}
