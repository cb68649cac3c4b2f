/* SPDX-License-Identifier: MIT */
/*
 * offer.c - the load of the row `latency` of ./dev bench http: requests at fixed times, whatever
 * the server does.
 *
 *     offer PORT RATE SECONDS CONNECTIONS
 *
 * The time of a request runs from when it was due, also while no connection was free, so that a
 * server which stalls is measured as its clients see it. Waits for nothing: it is to have a CPU.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUEST "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
#define BEGIN "HTTP/1.1 200 "
#define END "\r\n\r\nhello\n"
#define CONNECTIONS_MAX 1024u
#define EVENTS_MAX 64
#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_US 1000u
/* Of answers that do not come. */
#define LATE_NS (10 * NS_PER_S)

struct client {
    int descriptor;
    uint64_t due_ns;
    size_t size;
    char text[4096];
};

struct load {
    int set;
    struct client *clients;
    struct client *idle[CONNECTIONS_MAX];
    uint32_t idle_count;
    uint32_t *us; /* of each answer */
    size_t answered, failed;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    exit(1);
}

static void join(struct load *load, struct client *client, const struct sockaddr_in *address)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };
    int on = 1;

    client->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(client->descriptor >= 0 &&
             connect(client->descriptor, (const struct sockaddr *)address, sizeof *address) == 0,
         "offer: connect");
    (void)setsockopt(client->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    must(epoll_ctl(load->set, EPOLL_CTL_ADD, client->descriptor, &event) == 0, "offer: epoll");
    load->idle[load->idle_count++] = client;
}

static void ask(struct load *load, uint64_t due_ns)
{
    struct client *client = load->idle[--load->idle_count];

    client->due_ns = due_ns;
    client->size = 0;
    must(send(client->descriptor, REQUEST, sizeof REQUEST - 1, MSG_NOSIGNAL) ==
             (ssize_t)(sizeof REQUEST - 1),
         "offer: send");
}

static bool has_ended(const struct client *client)
{
    size_t size = sizeof END - 1;

    return client->size >= size && memcmp(client->text + client->size - size, END, size) == 0;
}

static void hear(struct load *load, struct client *client)
{
    ssize_t got = recv(client->descriptor, client->text + client->size,
                       sizeof client->text - client->size, MSG_DONTWAIT);

    if (got < 0 && errno == EAGAIN)
        return;
    must(got > 0, "offer: an answer has not come");
    client->size += (size_t)got;
    if (!has_ended(client))
        return;
    load->failed += strncmp(client->text, BEGIN, sizeof BEGIN - 1) != 0;
    load->us[load->answered++] = (uint32_t)((now_ns() - client->due_ns) / NS_PER_US);
    load->idle[load->idle_count++] = client;
}

static void hear_all(struct load *load)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(load->set, events, EVENTS_MAX, 0);

    for (int i = 0; i < count; i++)
        hear(load, events[i].data.ptr);
}

/* Returns what the whole took. */
static uint64_t run(struct load *load, size_t count, uint64_t rate)
{
    uint64_t start = now_ns(), now = start;
    size_t asked = 0;

    while (load->answered < count) {
        now = now_ns();
        while (asked < count && load->idle_count > 0 && start + asked * NS_PER_S / rate <= now) {
            ask(load, start + asked * NS_PER_S / rate);
            asked++;
        }
        hear_all(load);
        errno = ETIMEDOUT;
        must(now < start + count * NS_PER_S / rate + LATE_NS, "offer: answers");
    }
    return now - start;
}

static int compare(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

    return (a > b) - (a < b);
}

static void print_figures(const struct load *load, size_t count, uint64_t ns)
{
    qsort(load->us, count, sizeof *load->us, compare);
    (void)printf("FIGURES requests=%zu us=%llu broken=0 failed=%zu p50=%u p90=%u p99=%u p999=%u "
                 "max=%u\n",
                 count, (unsigned long long)(ns / NS_PER_US), load->failed, load->us[count / 2],
                 load->us[count * 9 / 10], load->us[count * 99 / 100], load->us[count * 999 / 1000],
                 load->us[count - 1]);
}

int main(int words, char **word)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    struct load load = { .set = epoll_create1(EPOLL_CLOEXEC) };
    uint64_t rate = words == 5 ? strtoull(word[2], NULL, 10) : 0;
    size_t count = rate ? rate * strtoull(word[3], NULL, 10) : 0;
    uint32_t connections = rate ? (uint32_t)strtoul(word[4], NULL, 10) : 0;

    if (count == 0 || connections == 0 || connections > CONNECTIONS_MAX)
        return 2;
    address.sin_port = htons((uint16_t)strtoul(word[1], NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    load.clients = calloc(connections, sizeof *load.clients);
    load.us = calloc(count, sizeof *load.us);
    must(load.clients && load.us && load.set >= 0, "offer");
    for (uint32_t i = 0; i < connections; i++)
        join(&load, &load.clients[i], &address);
    print_figures(&load, count, run(&load, count, rate));
    free(load.clients);
    free(load.us);
    return 0;
}
