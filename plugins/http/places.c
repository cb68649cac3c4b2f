#include "places.h"

#include <poll.h>

#define FRESH_MS 1000u /* in a phase: the connection is not given up yet */

void connection_expire(struct server *server)
{
    uint64_t now = weir_now_ms(server->self);

    for (struct connection *c = server->first, *next; c; c = next) {
        next = c->next;
        if (c->deadline_ms > now)
            continue;
        server->figures.expired += c->phase != CONNECTION_LINGERING;
        connection_end(c);
    }
}

/* Whether bytes that nobody has read lie in the socket: then it is not idle. */
static bool has_bytes(const struct connection *connection)
{
    struct pollfd look = { .fd = connection->descriptor, .events = POLLIN };

    return poll(&look, 1, 0) > 0 && (look.revents & POLLIN) != 0;
}

/* Its request, or the next flight of its TLS handshake, may be on its way. */
static bool is_fresh(const struct connection *connection, uint64_t now)
{
    if (connection->phase == CONNECTION_LINGERING ||
        (connection->phase == CONNECTION_IDLE && connection->has_served))
        return false;
    return now < connection->since_ms + FRESH_MS;
}

static struct connection *find_oldest(struct server *server, enum connection_phase phase)
{
    struct connection *oldest = NULL;
    uint64_t now = weir_now_ms(server->self);

    for (struct connection *c = server->first; c; c = c->next)
        if (c->phase == phase && c->descriptor >= 0 && !c->has_input && !is_fresh(c, now) &&
            (!oldest || c->deadline_ms <= oldest->deadline_ms))
            oldest = c;
    return oldest;
}

/* Passes by those with unread bytes in their sockets: the set is about to report them. */
static struct connection *find_idle(struct server *server)
{
    struct connection *oldest;

    while ((oldest = find_oldest(server, CONNECTION_IDLE)) && has_bytes(oldest))
        oldest->has_input = true;
    return oldest;
}

bool connection_crowd_out(struct server *server)
{
    struct connection *oldest = find_oldest(server, CONNECTION_LINGERING);

    if (!oldest)
        oldest = find_idle(server);
    if (!oldest)
        oldest = find_oldest(server, CONNECTION_RECEIVING);
    if (!oldest)
        return false;
    server->figures.crowded_out++;
    connection_end(oldest);
    return true;
}

void connection_shorten(struct server *server, uint64_t grace_ms)
{
    uint64_t end = weir_now_ms(server->self) + grace_ms;

    for (struct connection *c = server->first; c; c = c->next)
        if ((c->phase == CONNECTION_IDLE || c->phase == CONNECTION_RECEIVING) &&
            c->deadline_ms > end)
            c->deadline_ms = end;
}
