/* SPDX-License-Identifier: MIT */
/*
 * Transactions by libpq alone. HOW is `shared`: an array of connections behind a mutex; `own`: one
 * connection for each user, also through PgBouncer; `new`: a connection for each transaction.
 */
#include <libpq-fe.h>
#include <pthread.h>

#include "job.h"

struct shared {
    struct job job;
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    PGconn *free[JOB_USERS_MAX];
    uint32_t free_count;
};

struct user {
    struct shared *shared;
    uint32_t number;
    PGconn *own;
    pthread_t thread;
};

static PGconn *connect_to(const struct job *job)
{
    PGconn *connection = PQconnectdb(job->conninfo);

    if (PQstatus(connection) != CONNECTION_OK) {
        fprintf(stderr, "%s", PQerrorMessage(connection));
        exit(69);
    }
    return connection;
}

static void transact(PGconn *connection, uint32_t user)
{
    char text[JOB_TEXT_BYTES];

    for (uint32_t i = 0; i < JOB_STATEMENTS; i++) {
        PGresult *result;

        job_statement(text, i, user);
        result = PQexecParams(connection, text, 0, NULL, NULL, NULL, NULL, 0);
        if (PQresultStatus(result) != PGRES_COMMAND_OK) {
            fprintf(stderr, "%s", PQerrorMessage(connection));
            exit(70);
        }
        PQclear(result);
    }
}

static PGconn *take(struct shared *shared)
{
    PGconn *connection;

    pthread_mutex_lock(&shared->mutex);
    while (shared->free_count == 0)
        pthread_cond_wait(&shared->freed, &shared->mutex);
    connection = shared->free[--shared->free_count];
    pthread_mutex_unlock(&shared->mutex);
    return connection;
}

static void give_back(struct shared *shared, PGconn *connection)
{
    pthread_mutex_lock(&shared->mutex);
    shared->free[shared->free_count++] = connection;
    pthread_cond_signal(&shared->freed);
    pthread_mutex_unlock(&shared->mutex);
}

static void do_round(struct user *user)
{
    struct shared *shared = user->shared;
    PGconn *connection;

    if (user->own) {
        transact(user->own, user->number);
    } else if (strcmp(shared->job.how, "new") == 0) {
        connection = connect_to(&shared->job);
        transact(connection, user->number);
        PQfinish(connection);
    } else {
        connection = take(shared);
        transact(connection, user->number);
        give_back(shared, connection);
    }
}

static void *run(void *context)
{
    struct user *user = context;
    struct job *job = &user->shared->job;

    for (uint64_t i = 0; i < job->each; i++) {
        uint64_t began_ns = row_now_ns();

        do_round(user);
        job_note(job, user->number, i, began_ns);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct shared shared = { .mutex = PTHREAD_MUTEX_INITIALIZER,
                                    .freed = PTHREAD_COND_INITIALIZER };
    static struct user users[JOB_USERS_MAX];
    struct job *job = &shared.job;

    job_begin(job, argc, argv);
    if (strcmp(job->how, "shared") == 0)
        while (shared.free_count < job->members && shared.free_count < JOB_USERS_MAX)
            shared.free[shared.free_count++] = connect_to(job);
    for (uint32_t i = 0; i < job->users; i++) {
        users[i] = (struct user){ .shared = &shared, .number = i };
        if (strcmp(job->how, "own") == 0)
            users[i].own = connect_to(job);
    }
    job_start(job);
    for (uint32_t i = 0; i < job->users; i++)
        if (pthread_create(&users[i].thread, NULL, run, &users[i]) != 0)
            return 70;
    for (uint32_t i = 0; i < job->users; i++)
        (void)pthread_join(users[i].thread, NULL);
    for (uint32_t i = 0; i < job->users; i++)
        if (users[i].own)
            PQfinish(users[i].own);
    while (shared.free_count > 0)
        PQfinish(shared.free[--shared.free_count]);
    return job_end(job);
}
