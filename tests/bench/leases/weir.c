/* SPDX-License-Identifier: MIT */
/*
 * Leases of libweir. HOW is `threads`: threads of the program take; `workers`: workers of another
 * pool; `near`: the same, on the dispatcher of the members. With a CONNINFO the members are those
 * of examples/pgpool, and each use is a transaction. `requests`: threads of the program ask the
 * pool without a lease; any member answers.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>
#include <weir/leases.h>
#include <weir/runtime.h>

#include "job.h"
#ifdef WITH_PGPOOL
#include "examples/pgpool/pgpool.h"
#endif

#define BLOCKING_MAX 64u
#ifdef WITH_PGPOOL
#define STATEMENTS JOB_STATEMENTS
#define MEMBERS_DISPATCHER "blocking"
#else
#define STATEMENTS 0u
#define MEMBERS_DISPATCHER "default"
#endif

struct shared {
    struct job job;
    struct weir_runtime *runtime;
    const struct weir_tag *query;
    weir_pid pool;
    uint32_t statements; /* of a round */
    bool asks;
    _Atomic uint32_t left; /* users that have not ended */
    pthread_mutex_t mutex;
    pthread_cond_t ended;
};

struct user {
    struct shared *shared;
    uint32_t number;
    pthread_t thread;
};

static _Noreturn void fail(const char *what, int status)
{
    fprintf(stderr, "%s: %s\n", what, weir_status_name(status));
    exit(70);
}

static void must(const char *what, int status)
{
    if (status != 0)
        fail(what, status);
}

/* --- members without a use -------------------------------------------------------------------- */

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *reply;

    (void)state;
    if (message->kind != WEIR_REQUEST)
        return WEIR_DONE;
    reply = weir_message_new(self, NULL, 0);
    return reply && weir_reply(self, message, reply) == 0 ? WEIR_DONE : WEIR_FAIL;
}

static const struct weir_behaviour member = { .name = "member", .handle = handle };

/* --- threads ---------------------------------------------------------------------------------- */

#ifdef WITH_PGPOOL
static void use(struct user *user, const struct weir_lease *lease)
{
    struct shared *shared = user->shared;
    char text[JOB_TEXT_BYTES];

    for (uint32_t i = 0; i < JOB_STATEMENTS; i++) {
        struct weir_answer answer = WEIR_ANSWER;
        struct weir_message *message;

        job_statement(text, i, user->number);
        message = weir_runtime_message_new(shared->runtime, shared->query, strlen(text) + 1);
        if (!message)
            fail("message", WEIR_ENOMEM);
        memcpy(message->data, text, strlen(text) + 1);
        must("statement",
             weir_runtime_lease_ask(shared->runtime, lease, message, WEIR_FOR_EVER, &answer));
        weir_runtime_message_free(shared->runtime, answer.message);
    }
}
#else
static void use(struct user *user, const struct weir_lease *lease)
{
    (void)user;
    (void)lease;
}
#endif

static void take_and_return(struct user *user)
{
    struct shared *shared = user->shared;
    struct weir_lease lease;

    must("take", weir_runtime_take(shared->runtime, shared->pool, WEIR_FOR_EVER, &lease));
    use(user, &lease);
    must("return", weir_runtime_return(shared->runtime, &lease, WEIR_DONE));
}

static void ask(struct user *user)
{
    struct weir_runtime *runtime = user->shared->runtime;
    struct weir_message *message = weir_runtime_message_new(runtime, NULL, 0);
    struct weir_answer answer = WEIR_ANSWER;

    if (!message)
        fail("message", WEIR_ENOMEM);
    must("request", weir_runtime_ask(runtime, user->shared->pool, message, WEIR_FOR_EVER, &answer));
    weir_runtime_message_free(runtime, answer.message);
}

static void *run(void *context)
{
    struct user *user = context;
    struct shared *shared = user->shared;

    for (uint64_t i = 0; i < shared->job.each; i++) {
        uint64_t began_ns = row_now_ns();

        if (shared->asks)
            ask(user);
        else
            take_and_return(user);
        job_note(&shared->job, user->number, i, began_ns);
    }
    return NULL;
}

static void run_threads(struct shared *shared)
{
    static struct user users[JOB_USERS_MAX];

    for (uint32_t i = 0; i < shared->job.users; i++) {
        users[i] = (struct user){ .shared = shared, .number = i };
        if (pthread_create(&users[i].thread, NULL, run, &users[i]) != 0)
            exit(70);
    }
    for (uint32_t i = 0; i < shared->job.users; i++)
        (void)pthread_join(users[i].thread, NULL);
}

/* --- workers ---------------------------------------------------------------------------------- */

struct taker {
    struct shared *shared;
    struct weir_lease lease;
    uint32_t statement; /* the next one of this round */
    uint64_t round;
    uint64_t began_ns;
};

static int open_taker(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct taker *)state)->shared = (struct shared *)(uintptr_t)settings;
    return 0;
}

static void end_taker(struct shared *shared)
{
    pthread_mutex_lock(&shared->mutex);
    if (atomic_fetch_sub(&shared->left, 1) == 1)
        pthread_cond_signal(&shared->ended);
    pthread_mutex_unlock(&shared->mutex);
}

static void go_on(struct weir_self *self, struct taker *taker);

static void took(struct weir_self *self, void *state, void *context, const struct weir_reply *reply)
{
    struct taker *taker = state;

    (void)context;
    must("took", reply->status);
    taker->lease = *weir_lease_of(reply);
    taker->statement = 0;
    go_on(self, taker);
}

static void take(struct weir_self *self, struct taker *taker)
{
    taker->began_ns = row_now_ns();
    must("take", weir_take(self, taker->shared->pool, WEIR_FOR_EVER, took, NULL, NULL));
}

#ifdef WITH_PGPOOL
static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    (void)context;
    must("statement", reply->status);
    go_on(self, state);
}

static void request(struct weir_self *self, struct taker *taker)
{
    char text[JOB_TEXT_BYTES];
    const char *texts[] = { text };
    struct weir_message *message;

    job_statement(text, taker->statement++, weir_index(self));
    message = pgpool_query(self, taker->shared->query, texts, 1);
    if (!message)
        fail("message", WEIR_ENOMEM);
    must("statement",
         weir_lease_request(self, &taker->lease, message, WEIR_FOR_EVER, answered, NULL, NULL));
}
#else
static void request(struct weir_self *self, struct taker *taker)
{
    (void)self;
    (void)taker;
}
#endif

static void end_round(struct weir_self *self, struct taker *taker)
{
    struct shared *shared = taker->shared;

    must("return", weir_return(self, &taker->lease, WEIR_DONE));
    job_note(&shared->job, weir_index(self), taker->round, taker->began_ns);
    if (++taker->round < shared->job.each)
        take(self, taker);
    else
        end_taker(shared);
}

/* The next statement, or the end of the round. */
static void go_on(struct weir_self *self, struct taker *taker)
{
    if (taker->statement < taker->shared->statements)
        request(self, taker);
    else
        end_round(self, taker);
}

static int begin_taker(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)message;
    take(self, state);
    return WEIR_DONE;
}

static const struct weir_behaviour taker = {
    .name = "taker",
    .state_size = sizeof(struct taker),
    .open = open_taker,
    .handle = begin_taker,
};

static void run_workers(struct shared *shared)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    weir_pid takers;

    options.path = "takers";
    options.behaviour = &taker;
    options.settings = shared;
    options.workers = shared->job.users;
    if (strcmp(shared->job.how, "near") == 0)
        options.dispatcher = MEMBERS_DISPATCHER;
    atomic_store(&shared->left, shared->job.users);
    must("takers", weir_runtime_add_pool(shared->runtime, &options, &takers));
    must("takers", weir_runtime_wait_open(shared->runtime, takers, WEIR_FOR_EVER));
    for (uint32_t i = 0; i < shared->job.users; i++)
        must("begin", weir_runtime_send(shared->runtime, takers, WEIR_NORMAL,
                                        weir_runtime_message_new(shared->runtime, NULL, 0)));
    pthread_mutex_lock(&shared->mutex);
    while (atomic_load(&shared->left) > 0)
        pthread_cond_wait(&shared->ended, &shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
}

/* --- the whole -------------------------------------------------------------------------------- */

#ifdef WITH_PGPOOL
static void choose_members(struct shared *shared, struct weir_pool_options *options)
{
    static struct pgpool_connection_settings settings = { .reset = "", .result_max = 1 << 20 };

    settings.conninfo = shared->job.conninfo;
    must("dispatcher",
         weir_runtime_add_dispatcher(
             shared->runtime, MEMBERS_DISPATCHER,
             shared->job.members < BLOCKING_MAX ? shared->job.members : BLOCKING_MAX, 1));
    options->behaviour = &pgpool_connection;
    options->settings = &settings;
    options->dispatcher = MEMBERS_DISPATCHER;
}
#else
static void choose_members(struct shared *shared, struct weir_pool_options *options)
{
    (void)shared;
    options->behaviour = &member;
}
#endif

static void add_members(struct shared *shared)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    options.path = "members";
    options.workers = shared->job.members;
    if (!shared->asks) {
        options.lease = 1;
        options.lease_queue = JOB_USERS_MAX;
        options.lease_timeout_ms = WEIR_FOR_EVER;
    }
    choose_members(shared, &options);
    must("members", weir_runtime_add_pool(shared->runtime, &options, &shared->pool));
    must("members", weir_runtime_wait_open(shared->runtime, shared->pool, WEIR_FOR_EVER));
}

int main(int argc, char **argv)
{
    static struct shared shared = { .mutex = PTHREAD_MUTEX_INITIALIZER,
                                    .ended = PTHREAD_COND_INITIALIZER };
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;

    job_begin(&shared.job, argc, argv);
    shared.statements = STATEMENTS;
    shared.asks = strcmp(shared.job.how, "requests") == 0;
    options.threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    must("runtime", weir_runtime_create(&options, &shared.runtime));
    shared.query = weir_runtime_tag(shared.runtime, "pgpool.query/1");
    add_members(&shared);
    job_start(&shared.job);
    if (shared.asks || strcmp(shared.job.how, "threads") == 0)
        run_threads(&shared);
    else
        run_workers(&shared);
    job_end(&shared.job);
    weir_runtime_destroy(shared.runtime);
    return 0;
}
