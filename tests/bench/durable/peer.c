/* SPDX-License-Identifier: MIT */
/*
 * peer.c - a client of the peers of ./dev bench queue: beanstalkd, Redis and Gearman.
 *
 *     peer PROGRAM put PORT QUEUE COUNT WINDOW     puts pieces; at most WINDOW have no answer
 *     peer PROGRAM take PORT QUEUE COUNT WINDOW    takes COUNT pieces and removes each
 *
 * One connection, on which commands are sent ahead: each of these servers takes them in order, and
 * Redis syncs once for all that it has read. Prints when it begins and when it has ended. Any
 * failure ends the program with 1.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../client.h"

#define PAYLOAD 8u          /* bytes, as those of gen.numbers */
#define BUFFER (1u << 20)   /* far more than a window of commands, or of answers */
#define REFERENCE_SIZE 256u /* of what names a piece */
#define HEADER 12u          /* of a packet of Gearman */

enum gearman_packet {
    CAN_DO = 1,
    PRE_SLEEP = 4,
    NOOP = 6,
    JOB_CREATED = 8,
    GRAB_JOB = 9,
    NO_JOB = 10,
    JOB_ASSIGN = 11,
    WORK_COMPLETE = 13,
    ECHO_REQUEST = 16,
    ECHO_ANSWER = 17,
    SUBMIT_JOB_BG = 18,
};

enum event {
    STORED,
    PIECE,   /* `reference` names it */
    REMOVED, /* or whatever else ends a removal */
    NO_PIECE,
    AWAKE, /* there may be pieces again */
};

struct answer {
    enum event event;
    char reference[REFERENCE_SIZE];
};

struct buffer {
    char *bytes;
    size_t used;
};

struct connection {
    int descriptor;
    const char *queue;
    struct buffer out, in;
};

struct peer {
    const char *name;
    void (*begin)(struct connection *connection, int takes);
    void (*put)(struct connection *connection, uint64_t number);
    void (*ask)(struct connection *connection);
    /* The answer says so: REMOVED. */
    void (*remove)(struct connection *connection, const char *reference);
    /* There was NO_PIECE: until AWAKE. NULL: the server waits until there is one. */
    void (*rest)(struct connection *connection);
    /* Bytes of the first answer; 0: it is not complete. */
    size_t (*parse)(const char *bytes, size_t size, struct answer *out);
};

static void add(struct connection *connection, const void *bytes, size_t size)
{
    need(connection->out.used + size <= BUFFER, "the window is too large");
    memcpy(connection->out.bytes + connection->out.used, bytes, size);
    connection->out.used += size;
}

static void add_text(struct connection *connection, const char *text)
{
    add(connection, text, strlen(text));
}

/* Bytes of a line with its end; 0: it is not complete. */
static size_t line_size(const char *bytes, size_t size)
{
    const char *end = memchr(bytes, '\n', size);

    return end ? (size_t)(end - bytes) + 1 : 0;
}

/* --- beanstalkd ------------------------------------------------------------------------------- */

static void beanstalkd_begin(struct connection *connection, int takes)
{
    char text[256];

    (void)snprintf(text, sizeof text, takes ? "watch %s\r\n" : "use %s\r\n", connection->queue);
    add_text(connection, text);
}

static void beanstalkd_put(struct connection *connection, uint64_t number)
{
    char text[64];

    (void)snprintf(text, sizeof text, "put 0 0 60 8\r\n%08llu\r\n", (unsigned long long)number);
    add_text(connection, text);
}

static void beanstalkd_ask(struct connection *connection)
{
    add_text(connection, "reserve\r\n");
}

static void beanstalkd_remove(struct connection *connection, const char *reference)
{
    char text[REFERENCE_SIZE + 16];

    (void)snprintf(text, sizeof text, "delete %s\r\n", reference);
    add_text(connection, text);
}

static size_t beanstalkd_parse(const char *bytes, size_t size, struct answer *out)
{
    size_t line = line_size(bytes, size);
    unsigned long long id;

    if (line == 0)
        return 0;
    if (strncmp(bytes, "INSERTED ", 9) == 0) {
        out->event = STORED;
    } else if (strncmp(bytes, "DELETED", 7) == 0) {
        out->event = REMOVED;
    } else if (sscanf(bytes, "RESERVED %llu", &id) == 1) {
        out->event = PIECE;
        (void)snprintf(out->reference, sizeof out->reference, "%llu", id);
        line += PAYLOAD + 2;
    } else {
        need(strncmp(bytes, "USING ", 6) == 0 || strncmp(bytes, "WATCHING ", 9) == 0, bytes);
        out->event = AWAKE;
    }
    return line <= size ? line : 0;
}

/* --- Redis ------------------------------------------------------------------------------------ */

static void redis_begin(struct connection *connection, int takes)
{
    (void)connection;
    (void)takes;
}

static void redis_command(struct connection *connection, int count, const char *const *words)
{
    char text[512];
    int used = snprintf(text, sizeof text, "*%d\r\n", count);

    for (int i = 0; i < count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "$%zu\r\n%s\r\n",
                         strlen(words[i]), words[i]);
    add(connection, text, (size_t)used);
}

static void redis_put(struct connection *connection, uint64_t number)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%08llu", (unsigned long long)number);
    redis_command(connection, 3, (const char *const[]){ "RPUSH", connection->queue, text });
}

/* A piece that is in work stands in a list of its own, so that a client that ends loses none. */
static void redis_ask(struct connection *connection)
{
    redis_command(
        connection, 6,
        (const char *const[]){ "BLMOVE", connection->queue, "work", "LEFT", "RIGHT", "0" });
}

static void redis_remove(struct connection *connection, const char *reference)
{
    redis_command(connection, 4, (const char *const[]){ "LREM", "work", "1", reference });
}

static size_t redis_parse(const char *bytes, size_t size, struct answer *out)
{
    size_t line = line_size(bytes, size);

    if (line == 0)
        return 0;
    if (bytes[0] == '$') {
        out->event = PIECE;
        if (size < line + PAYLOAD + 2)
            return 0;
        (void)snprintf(out->reference, sizeof out->reference, "%.*s", (int)PAYLOAD, bytes + line);
        return line + PAYLOAD + 2;
    }
    /* RPUSH answers with the length of the list, LREM with the number of pieces that it removed. */
    need(bytes[0] == ':', bytes);
    out->event = REMOVED;
    return line;
}

/* --- Gearman ---------------------------------------------------------------------------------- */

static void gearman_packet(struct connection *connection, enum gearman_packet type, size_t size)
{
    unsigned char head[HEADER] = { 0, 'R', 'E', 'Q' };

    head[7] = (unsigned char)type;
    head[10] = (unsigned char)(size >> 8);
    head[11] = (unsigned char)size;
    add(connection, head, sizeof head);
}

static void gearman_begin(struct connection *connection, int takes)
{
    if (!takes)
        return;
    gearman_packet(connection, CAN_DO, strlen(connection->queue));
    add_text(connection, connection->queue);
}

static void gearman_put(struct connection *connection, uint64_t number)
{
    size_t name = strlen(connection->queue) + 1;
    char text[32];

    (void)snprintf(text, sizeof text, "%08llu", (unsigned long long)number);
    gearman_packet(connection, SUBMIT_JOB_BG, name + 1 + PAYLOAD);
    add(connection, connection->queue, name);
    add(connection, "", 1); /* the server makes a name of the piece */
    add(connection, text, PAYLOAD);
}

static void gearman_ask(struct connection *connection)
{
    gearman_packet(connection, GRAB_JOB, 0);
}

/* The end of a job in the background has no answer; an echo behind it has. */
static void gearman_remove(struct connection *connection, const char *reference)
{
    size_t size = strlen(reference) + 1;

    gearman_packet(connection, WORK_COMPLETE, size);
    add(connection, reference, size);
    gearman_packet(connection, ECHO_REQUEST, 1);
    add(connection, "x", 1);
}

static void gearman_rest(struct connection *connection)
{
    gearman_packet(connection, PRE_SLEEP, 0);
}

static size_t gearman_parse(const char *bytes, size_t size, struct answer *out)
{
    const unsigned char *head = (const unsigned char *)bytes;
    size_t whole = HEADER;

    if (size < HEADER)
        return 0;
    whole += (size_t)head[10] << 8 | head[11];
    if (size < whole)
        return 0;
    switch (head[7]) {
    case JOB_CREATED:
        out->event = STORED;
        break;
    case JOB_ASSIGN:
        out->event = PIECE;
        (void)snprintf(out->reference, sizeof out->reference, "%s", bytes + HEADER);
        break;
    case ECHO_ANSWER:
        out->event = REMOVED;
        break;
    case NO_JOB:
        out->event = NO_PIECE;
        break;
    default:
        need(head[7] == NOOP, "an unknown packet");
        out->event = AWAKE;
    }
    return whole;
}

/* --- running ---------------------------------------------------------------------------------- */

static const struct peer peers[] = {
    { "beanstalkd", beanstalkd_begin, beanstalkd_put, beanstalkd_ask, beanstalkd_remove, NULL,
      beanstalkd_parse },
    { "redis", redis_begin, redis_put, redis_ask, redis_remove, NULL, redis_parse },
    { "gearman", gearman_begin, gearman_put, gearman_ask, gearman_remove, gearman_rest,
      gearman_parse },
};

static void connect_to(struct connection *connection, int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    int one = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connection->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(connect(connection->descriptor, (const struct sockaddr *)&address, sizeof address) == 0,
         "no server");
    (void)setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connection->out.bytes = malloc(BUFFER);
    connection->in.bytes = calloc(1, BUFFER + 1);
    need(connection->out.bytes && connection->in.bytes, "memory is out");
}

/* Sends all commands, and waits for more answers. */
static void exchange(struct connection *connection)
{
    size_t sent = 0;
    ssize_t got;

    while (sent < connection->out.used) {
        got = write(connection->descriptor, connection->out.bytes + sent,
                    connection->out.used - sent);
        need(got > 0, "the server does not read");
        sent += (size_t)got;
    }
    connection->out.used = 0;
    got = read(connection->descriptor, connection->in.bytes + connection->in.used,
               BUFFER - connection->in.used);
    need(got > 0, "the server has ended");
    connection->in.used += (size_t)got;
}

static void put_all(const struct peer *peer, struct connection *connection, uint64_t count,
                    uint64_t window)
{
    uint64_t sent = 0, done = 0;

    while (done < count) {
        struct answer answer;
        size_t used = 0, size;

        for (; sent < count && sent - done < window; sent++)
            peer->put(connection, sent);
        exchange(connection);
        while ((size = peer->parse(connection->in.bytes + used, connection->in.used - used,
                                   &answer)) > 0) {
            used += size;
            done += answer.event != AWAKE;
        }
        connection->in.used -= used;
        memmove(connection->in.bytes, connection->in.bytes + used, connection->in.used);
    }
}

static void take_all(const struct peer *peer, struct connection *connection, uint64_t count,
                     uint64_t window)
{
    uint64_t asked = 0, done = 0, taken = 0, missing = 0;

    while (done < count) {
        struct answer answer;
        size_t used = 0, size;

        for (; asked < count && asked - taken < window && missing == 0; asked++)
            peer->ask(connection);
        exchange(connection);
        while ((size = peer->parse(connection->in.bytes + used, connection->in.used - used,
                                   &answer)) > 0) {
            used += size;
            if (answer.event == PIECE) {
                taken++;
                peer->remove(connection, answer.reference);
            } else if (answer.event == REMOVED) {
                done++;
            } else if (answer.event == NO_PIECE) {
                asked--;
                if (missing++ == 0)
                    peer->rest(connection);
            } else {
                missing = 0;
            }
        }
        connection->in.used -= used;
        memmove(connection->in.bytes, connection->in.bytes + used, connection->in.used);
    }
}

int main(int count, char **words)
{
    struct connection connection = { .descriptor = -1 };
    int takes;

    need(count == 7, "six arguments");
    takes = strcmp(words[2], "take") == 0;
    connection.queue = words[4];
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++) {
        if (strcmp(words[1], peers[i].name) != 0)
            continue;
        connect_to(&connection, (int)strtol(words[3], NULL, 10));
        peers[i].begin(&connection, takes);
        print_time();
        (takes ? take_all : put_all)(&peers[i], &connection, strtoull(words[5], NULL, 10),
                                     strtoull(words[6], NULL, 10));
        print_time();
        return 0;
    }
    need(0, "an unknown peer");
    return 1;
}
