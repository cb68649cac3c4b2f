/* SPDX-License-Identifier: MIT */
/*
 * Goal: a pool that others use without an output closes after them: a pool that an option names,
 * and a pool that was only looked up. So all accepted messages find it open at the end. Shows
 * promise O5.
 *
 * Method: a table of the ways in which a user asks, of the places of both pools, and of how the
 * user knows the other one. The used pool is made first, so that a shutdown that does not know of
 * the use closes it first. A user waits at a gate with messages in its mailbox until the shutdown
 * has closed it; then each of its messages asks.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define JOBS 20u

enum way { BY_REQUEST, BY_LEASE, BY_PORT };

struct fixture;

struct settings {
    const char *used; /* the option, when the behaviour has it */
    const char *path; /* what the worker looks up */
    struct fixture *f;
};

struct fixture {
    struct hand hand;
    struct settings settings;
    enum way way;
    weir_pid user;
    _Atomic uint32_t made;    /* jobs whose question was answered */
    _Atomic uint32_t refused; /* jobs with another answer */
    _Atomic uint32_t used;    /* messages that the used pool has handled */
};

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(const struct settings **)state = settings;
    return 0;
}

/* --- the used pool --------------------------------------------------------------------------- */

static int use(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct settings *settings = *(const struct settings **)state;
    struct weir_message *reply;

    atomic_fetch_add(&settings->f->used, 1);
    if (message->kind != WEIR_REQUEST)
        return WEIR_DONE;
    reply = weir_message_new(self, NULL, 0);
    if (weir_reply(self, message, reply) != 0)
        weir_message_free(self, reply);
    return WEIR_DONE;
}

static const struct weir_behaviour used = {
    .name = "used",
    .state_size = sizeof(struct settings *),
    .open = open_worker,
    .handle = use,
};

/* --- the user -------------------------------------------------------------------------------- */

static void end_job(struct weir_self *self, struct fixture *f, const void *kept, int status)
{
    atomic_fetch_add(status == 0 ? &f->made : &f->refused, 1);
    (void)weir_settle(self, (const struct weir_message *)kept, WEIR_DONE);
}

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    end_job(self, (*(const struct settings **)state)->f, context, reply->status);
}

static void took(struct weir_self *self, void *state, void *context, const struct weir_reply *reply)
{
    const struct weir_lease *lease = weir_lease_of(reply);
    struct weir_message *message;

    if (reply->status == 0) {
        message = weir_message_new(self, NULL, 0);
        if (weir_lease_send(self, lease, message) != 0)
            weir_message_free(self, message);
        (void)weir_return(self, lease, WEIR_DONE);
    }
    end_job(self, (*(const struct settings **)state)->f, context, reply->status);
}

static int request(struct weir_self *self, weir_pid to, const struct weir_message *job)
{
    struct weir_message *question = weir_message_new(self, NULL, 0);
    int status = weir_request(self, to, question, wait_limit_ms(), answered, (void *)(uintptr_t)job,
                              NULL);

    if (status != 0)
        weir_message_free(self, question);
    return status;
}

/* The thread of a port asks, and is joined at once: the worker may block in this test. */
struct errand {
    struct weir_port *port;
    weir_pid to;
    int status;
};

static void *ask_through_port(void *context)
{
    struct errand *errand = context;
    struct weir_answer answer = WEIR_ANSWER;

    errand->status = weir_port_request(errand->port, errand->to,
                                       weir_port_message_new(errand->port, NULL, 0),
                                       wait_limit_ms(), &answer);
    weir_port_message_free(errand->port, answer.message);
    return NULL;
}

static int ask_by_thread(struct weir_self *self, struct fixture *f, weir_pid to)
{
    struct errand errand = { weir_port(self), to, WEIR_ENOMEM };
    pthread_t thread;

    if (errand.port && pthread_create(&thread, NULL, ask_through_port, &errand) == 0)
        (void)pthread_join(thread, NULL);
    weir_port_unref(errand.port);
    atomic_fetch_add(errand.status == 0 ? &f->made : &f->refused, 1);
    return WEIR_DONE;
}

static int job(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct settings *settings = *(const struct settings **)state;
    struct fixture *f = settings->f;
    weir_pid to = 0;
    int status;

    CU_ASSERT_TRUE(gate_pass(&f->hand.gate));
    status = weir_lookup(self, settings->path, &to);
    if (status == 0 && f->way == BY_PORT)
        return ask_by_thread(self, f, to);
    if (status == 0)
        status = f->way == BY_LEASE
                     ? weir_take(self, to, wait_limit_ms(), took, (void *)(uintptr_t)message, NULL)
                     : request(self, to, message);
    if (status == 0)
        return WEIR_KEEP;
    atomic_fetch_add(&f->refused, 1);
    return WEIR_DONE;
}

static const struct weir_option options[] = {
    WEIR_OPTION_POOL(struct settings, used, .help = "the pool that it asks"),
    { 0 },
};

static const struct weir_behaviour user = {
    .name = "user",
    .options = options,
    .settings_size = sizeof(struct settings),
    .state_size = sizeof(struct settings *),
    .flags = WEIR_BLOCKING,
    .open = open_worker,
    .handle = job,
};

/* --- the table ------------------------------------------------------------------------------- */

struct row {
    const char *name;
    enum way way;
    bool by_option;                /* else the user has asked once before */
    const char *user_in, *used_in; /* the pools above; NULL: none */
};

static const struct row rows[] = {
    { "request by option", BY_REQUEST, true, NULL, NULL },
    { "request by name", BY_REQUEST, false, NULL, NULL },
    { "lease by option", BY_LEASE, true, NULL, NULL },
    { "lease by name", BY_LEASE, false, NULL, NULL },
    { "thread by option", BY_PORT, true, NULL, NULL },
    { "thread by name", BY_PORT, false, NULL, NULL },
    { "nested user, option", BY_REQUEST, true, "app", NULL },
    { "nested user, name", BY_REQUEST, false, "app", NULL },
    { "nested used, option", BY_LEASE, true, NULL, "store" },
    { "nested used, name", BY_LEASE, false, NULL, "store" },
    { "both nested, option", BY_REQUEST, true, "app", "store" },
    { "both nested, name", BY_REQUEST, false, "app", "store" },
    { "siblings, option", BY_REQUEST, true, "store", "store" },
    { "siblings, name", BY_REQUEST, false, "store", "store" },
};

static weir_pid parent(struct fixture *f, const char *path)
{
    struct weir_pool_options given = WEIR_POOL_OPTIONS;
    weir_pid pid = 0;

    if (!path || weir_runtime_lookup(f->hand.runtime, path, &pid) == 0)
        return pid;
    given.path = path;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f->hand.runtime, &given, &pid), 0);
    return pid;
}

static weir_pid add(struct fixture *f, const char *above, const char *path,
                    const struct weir_behaviour *behaviour, bool gives_leases)
{
    struct weir_pool_options given = WEIR_POOL_OPTIONS;
    weir_pid pid;

    given.parent = parent(f, above);
    given.path = path;
    given.behaviour = behaviour;
    given.settings = &f->settings;
    given.lease = gives_leases;
    given.lease_queue = gives_leases ? JOBS : 0;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f->hand.runtime, &given, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f->hand.runtime, pid, wait_limit_ms()), 0);
    return pid;
}

static void send_jobs(struct fixture *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(hand_send(&f->hand, f->user, (struct hand_order){ 0 }), 0);
}

static void begin(struct fixture *f, const struct row *row)
{
    memset(f, 0, sizeof *f);
    hand_begin(&f->hand, 2);
    f->way = row->way;
    f->settings = (struct settings){ row->by_option ? "used" : NULL, "used", f };
    (void)add(f, row->used_in, "used", &used, row->way == BY_LEASE);
    f->user = add(f, row->user_in, "user", &user, false);
}

/* Its first question shows the use that no option names. */
static void ask_once(struct fixture *f)
{
    gate_open(&f->hand.gate);
    send_jobs(f, 1);
    while (atomic_load(&f->made) == 0 && atomic_load(&f->refused) == 0)
        (void)sched_yield();
    gate_shut(&f->hand.gate);
}

static void *open_when_user_closes(void *context)
{
    struct fixture *f = context;

    while (hand_send(&f->hand, f->user, (struct hand_order){ 0 }) != WEIR_ECLOSED)
        (void)sched_yield();
    gate_open(&f->hand.gate);
    return NULL;
}

static void shut_down(struct fixture *f)
{
    pthread_t thread;

    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, open_when_user_closes, f), 0);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(f->hand.runtime, wait_limit_ms()), 0);
    (void)pthread_join(thread, NULL);
}

/* promise O5 */
static void test_used_pool_closes_after_its_users(void)
{
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct weir_ledger ledger;
        struct fixture f;

        begin(&f, &rows[i]);
        if (!rows[i].by_option)
            ask_once(&f);
        send_jobs(&f, JOBS);
        shut_down(&f);
        if (atomic_load(&f.refused) > 0)
            (void)fprintf(stderr, "%s: %u refused\n", rows[i].name, atomic_load(&f.refused));
        CU_ASSERT_EQUAL(atomic_load(&f.refused), 0);
        CU_ASSERT_TRUE(atomic_load(&f.made) >= JOBS);
        ledger = hand_ledger(&f.hand, 0);
        CU_ASSERT_EQUAL(ledger.dead, 0);
        hand_finish(&f.hand);
    }
}

/* --- an option against an output ------------------------------------------------------------- */

static int emit_job(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct settings *settings = *(const struct settings **)state;
    struct weir_message *next = weir_message_new(self, NULL, 0);

    (void)message;
    CU_ASSERT_TRUE(gate_pass(&settings->f->hand.gate));
    if (weir_emit(self, 0, next) == 0)
        return WEIR_DONE;
    weir_message_free(self, next);
    atomic_fetch_add(&settings->f->refused, 1);
    return WEIR_DONE;
}

static const struct weir_behaviour feeder = {
    .name = "feeder",
    .state_size = sizeof(struct settings *),
    .flags = WEIR_BLOCKING,
    .open = open_worker,
    .handle = emit_job,
};

/* As `used`, and its option names the pool that feeds it. */
static const struct weir_behaviour fed = {
    .name = "fed",
    .options = options,
    .settings_size = sizeof(struct settings),
    .state_size = sizeof(struct settings *),
    .open = open_worker,
    .handle = use,
};

/* promise O5 */
static void test_pool_that_names_its_feeder_closes_after_it(void)
{
    struct weir_pool_options given = WEIR_POOL_OPTIONS;
    struct weir_binding output = { 0 };
    struct fixture f;

    memset(&f, 0, sizeof f);
    hand_begin(&f.hand, 2);
    f.settings = (struct settings){ "user", "user", &f };
    output.target = add(&f, NULL, "fed", &fed, false);
    given.path = "user";
    given.behaviour = &feeder;
    given.settings = &f.settings;
    given.outputs = &output;
    given.output_count = 1;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f.hand.runtime, &given, &f.user), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f.hand.runtime, f.user, wait_limit_ms()), 0);
    send_jobs(&f, JOBS);
    shut_down(&f);
    CU_ASSERT_EQUAL(atomic_load(&f.refused), 0);
    CU_ASSERT_TRUE(atomic_load(&f.used) >= JOBS);
    CU_ASSERT_EQUAL(hand_ledger(&f.hand, 0).dead, 0);
    hand_finish(&f.hand);
}

/* --- pools that ask each other --------------------------------------------------------------- */

#define MANY 3000u

static void counted(struct weir_self *self, void *state, void *context,
                    const struct weir_reply *reply)
{
    struct fixture *f = (*(const struct settings **)state)->f;

    (void)self, (void)context;
    atomic_fetch_add(reply->status == 0 ? &f->made : &f->refused, 1);
}

/* Answers requests; each other message asks, and is not kept. */
static int answer_or_ask(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct settings *settings = *(const struct settings **)state;
    struct weir_message *question;
    weir_pid to = 0;
    int status;

    if (message->kind == WEIR_REQUEST)
        return use(self, state, message);
    CU_ASSERT_TRUE(gate_pass(&settings->f->hand.gate));
    question = weir_message_new(self, NULL, 0);
    status = weir_lookup(self, settings->path, &to);
    if (status == 0)
        status = weir_request(self, to, question, wait_limit_ms(), counted, NULL, NULL);
    if (status != 0) {
        weir_message_free(self, question);
        atomic_fetch_add(&settings->f->refused, 1);
    }
    return WEIR_DONE;
}

static const struct weir_behaviour both = {
    .name = "both",
    .options = options,
    .settings_size = sizeof(struct settings),
    .state_size = sizeof(struct settings *),
    .flags = WEIR_BLOCKING,
    .open = open_worker,
    .handle = answer_or_ask,
};

static weir_pid add_asking(struct fixture *f, struct settings *settings, const char *path,
                           const char *asks)
{
    struct weir_pool_options given = WEIR_POOL_OPTIONS;
    weir_pid pid;

    *settings = (struct settings){ asks, asks, f };
    given.path = path;
    given.behaviour = &both;
    given.settings = settings;
    given.limit = 2 * MANY;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f->hand.runtime, &given, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f->hand.runtime, pid, wait_limit_ms()), 0);
    return pid;
}

static bool has_ended(struct fixture *f, weir_pid pool)
{
    const int status = hand_send(&f->hand, pool, (struct hand_order){ 0 });

    return status == WEIR_ETERMINATED || status == WEIR_ECLOSED || status == WEIR_EUNKNOWN;
}

static void *open_when_probe_has_ended(void *context)
{
    struct fixture *f = context;

    while (!has_ended(f, f->user))
        (void)sched_yield();
    gate_open(&f->hand.gate);
    return NULL;
}

static void send_many(struct fixture *f, weir_pid to)
{
    for (uint32_t i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(hand_send(&f->hand, to, (struct hand_order){ 0 }), 0);
}

/* A pool that feeds `target` shows by its end that the shutdown has come to that pool. */
static void add_probe(struct fixture *f, weir_pid target)
{
    const struct weir_binding output = { .target = target };
    struct weir_pool_options given = WEIR_POOL_OPTIONS;

    given.path = "probe";
    given.behaviour = &used;
    given.settings = &f->settings;
    given.outputs = &output;
    given.output_count = 1;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f->hand.runtime, &given, &f->user), 0);
}

static void begin_asking(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    hand_begin(&f->hand, 2);
    f->settings = (struct settings){ NULL, "", f };
}

static void ask_each_other(struct fixture *f, const weir_pid *pools, uint32_t count)
{
    pthread_t thread;

    gate_open(&f->hand.gate);
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(hand_send(&f->hand, pools[i], (struct hand_order){ 0 }), 0);
    while (atomic_load(&f->made) + atomic_load(&f->refused) < count)
        (void)sched_yield();
    gate_shut(&f->hand.gate);
    for (uint32_t i = 0; i < count; i++)
        send_many(f, pools[i]);
    add_probe(f, pools[0]);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, open_when_probe_has_ended, f), 0);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(f->hand.runtime, wait_limit_ms()), 0);
    (void)pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&f->refused), 0);
    CU_ASSERT_EQUAL(atomic_load(&f->made), count * (MANY + 1));
    hand_finish(&f->hand);
}

/* promise O5 */
static void test_pool_that_asks_itself_closes_without_messages(void)
{
    struct settings settings;
    struct fixture f;
    weir_pid pool;

    begin_asking(&f);
    pool = add_asking(&f, &settings, "self", "self");
    ask_each_other(&f, &pool, 1);
}

/* promise O5 */
static void test_pools_that_ask_each_other_close_without_messages(void)
{
    struct settings settings[2];
    struct fixture f;
    weir_pid pools[2];

    begin_asking(&f);
    pools[0] = add_asking(&f, &settings[0], "left", "right");
    pools[1] = add_asking(&f, &settings[1], "right", "left");
    ask_each_other(&f, pools, 2);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "users first", test_used_pool_closes_after_its_users },
        { "option and output", test_pool_that_names_its_feeder_closes_after_it },
        { "itself", test_pool_that_asks_itself_closes_without_messages },
        { "each other", test_pools_that_ask_each_other_close_without_messages },
        CU_TEST_INFO_NULL,
    };

    return suite_run("order", tests);
}
