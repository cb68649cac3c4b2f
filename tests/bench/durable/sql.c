/* SPDX-License-Identifier: MIT */
/*
 * sql.c - a client of PostgreSQL for ./dev bench queue: a table as a queue, with SKIP LOCKED.
 *
 *     sql put FOLDER TABLE COUNT WINDOW     inserts rows; at most WINDOW have no answer
 *     sql take FOLDER TABLE COUNT WINDOW    deletes COUNT rows, the oldest first
 *
 * FOLDER has the server's socket. Each statement is a transaction. Up to 50 connections share the
 * window, since the server commits together what several connections commit at once. Prints when it
 * begins and when it has ended. Any failure ends the program with 1.
 */
#include <libpq-fe.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../client.h"

#define CONNECTIONS_MAX 50u

struct link {
    PGconn *connection;
    uint64_t open; /* statements without an answer */
};

struct work {
    struct link links[CONNECTIONS_MAX];
    struct pollfd polls[CONNECTIONS_MAX];
    uint32_t count; /* of links */
    uint64_t sent, done, total;
};

static void open_link(struct link *link, const char *folder, const char *statement)
{
    char text[512];

    (void)snprintf(text, sizeof text, "host=%s user=weir dbname=postgres", folder);
    link->connection = PQconnectdb(text);
    need(PQstatus(link->connection) == CONNECTION_OK, PQerrorMessage(link->connection));
    need(PQresultStatus(PQprepare(link->connection, "work", statement, 0, NULL)) ==
             PGRES_COMMAND_OK,
         PQerrorMessage(link->connection));
    need(PQsetnonblocking(link->connection, 1) == 0 && PQenterPipelineMode(link->connection) == 1,
         "no pipeline");
}

static void send_one(struct work *work, struct link *link)
{
    need(PQsendQueryPrepared(link->connection, "work", 0, NULL, NULL, NULL, 0) == 1 &&
             PQpipelineSync(link->connection) == 1,
         PQerrorMessage(link->connection));
    link->open++;
    work->sent++;
}

/* A statement that found no row is sent again. */
static void take_result(struct work *work, struct link *link, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    if (status == PGRES_PIPELINE_SYNC) {
        link->open--;
    } else if (status == PGRES_COMMAND_OK) {
        if (strcmp(PQcmdTuples(result), "1") == 0)
            work->done++;
        else
            work->sent--;
    } else {
        need(0, PQresultErrorMessage(result));
    }
}

static void read_link(struct work *work, struct link *link)
{
    need(PQconsumeInput(link->connection) == 1, PQerrorMessage(link->connection));
    while (link->open > 0 && !PQisBusy(link->connection)) {
        PGresult *result = PQgetResult(link->connection);

        if (result) /* NULL stands behind each statement */
            take_result(work, link, result);
        PQclear(result);
    }
}

static void run(struct work *work, uint64_t window)
{
    while (work->done < work->total) {
        for (uint32_t i = 0; i < work->count; i++) {
            struct link *link = &work->links[i];
            int left;

            while (work->sent < work->total && link->open < window / work->count)
                send_one(work, link);
            left = PQflush(link->connection);
            need(left >= 0, PQerrorMessage(link->connection));
            work->polls[i] = (struct pollfd){ PQsocket(link->connection),
                                              (short)(POLLIN | (left ? POLLOUT : 0)), 0 };
        }
        need(poll(work->polls, work->count, -1) > 0, "poll");
        for (uint32_t i = 0; i < work->count; i++)
            if (work->polls[i].revents & POLLIN)
                read_link(work, &work->links[i]);
    }
}

int main(int count, char **words)
{
    static struct work work;
    char statement[512];
    uint64_t window;

    need(count == 6, "five arguments");
    if (strcmp(words[1], "put") == 0)
        (void)snprintf(statement, sizeof statement, "INSERT INTO %s(body) VALUES ('12345678')",
                       words[3]);
    else
        (void)snprintf(statement, sizeof statement,
                       "DELETE FROM %s WHERE id = (SELECT id FROM %s ORDER BY id"
                       " FOR UPDATE SKIP LOCKED LIMIT 1)",
                       words[3], words[3]);
    work.total = strtoull(words[4], NULL, 10);
    window = strtoull(words[5], NULL, 10);
    work.count = window < CONNECTIONS_MAX ? (uint32_t)window : CONNECTIONS_MAX;
    for (uint32_t i = 0; i < work.count; i++)
        open_link(&work.links[i], words[2], statement);
    print_time();
    run(&work, window);
    print_time();
    return 0;
}
