/* SPDX-License-Identifier: MIT */
#include "places.h"

#include <poll.h>

#include "exchange.h"

#define FRESH_MS 1000u          /* its request, or the next flight of TLS, may be on its way */
#define FRESH_GUEST_MS 100u     /* a guest without TLS sends its request at once */
#define FRESH_HANDSHAKE_MS 250u /* one with TLS after two round trips */
#define UNREAD_MS 1000u         /* how much longer a connection has with unread bytes */
#define FRESH_SERVED_MS 100u    /* its next request may be on its way */
#define FRESH_LINGER_MS 100u    /* its last bytes may be on their way */

bool places_have_waiting(const struct server *server)
{
    struct pollfd look = { .fd = server->listener, .events = POLLIN };

    return poll(&look, 1, 0) > 0;
}

/* Whether bytes that nobody has read lie in the socket. */
static bool has_bytes(const struct connection *connection)
{
    struct pollfd look = { .fd = connection->descriptor, .events = POLLIN };

    return poll(&look, 1, 0) > 0 && (look.revents & POLLIN) != 0;
}

/* A request, or more of it, lies in the socket; the set is about to report it. */
static bool has_request(const struct connection *c)
{
    return (c->phase == CONNECTION_IDLE || c->phase == CONNECTION_RECEIVING) && has_bytes(c);
}

void places_expire(struct server *server)
{
    uint64_t now = weir_now_ms(server->self);

    for (unsigned list = 0; list < SERVER_LISTS; list++)
        for (struct connection *c = server->lists[list].first, *next; c; c = next) {
            next = c->next;
            if (c->deadline_ms > now || (c->deadline_ms + UNREAD_MS > now && has_request(c)))
                continue;
            server->figures.expired += c->phase != CONNECTION_LINGERING;
            if (c->phase == CONNECTION_RECEIVING && c->exchange)
                exchange_expire(c->exchange);
            else
                connection_end(c);
        }
}

static bool is_half_body(const struct connection *c, const struct connection *but)
{
    return c != but && c->exchange && c->exchange->body_room > 0 &&
           weir_now_ms(c->server->self) >= c->exchange->progress_ms + FRESH_MS && !has_bytes(c);
}

uint64_t places_held_by_bodies(const struct server *server, const struct connection *but)
{
    uint64_t held = 0;

    for (const struct connection *c = server->lists[SERVER_RECEIVING].first; c; c = c->next)
        held += is_half_body(c, but) ? c->exchange->body_room : 0;
    return held;
}

bool places_give_up_body(struct server *server, const struct connection *but)
{
    for (struct connection *c = server->lists[SERVER_RECEIVING].first; c; c = c->next) {
        if (!is_half_body(c, but))
            continue;
        server->figures.crowded_out++;
        exchange_give_up_body(c->exchange);
        return true;
    }
    return false;
}

/* Ends the oldest connection of a list, unless it is fresh. Passes by those with unread bytes in
 * their sockets, and marks them: the set is about to report them. */
static bool end_oldest(struct server *server, enum server_list list, uint64_t fresh_ms)
{
    uint64_t now = weir_now_ms(server->self);

    for (struct connection *c = server->lists[list].first; c; c = c->next) {
        if (now < c->since_ms + fresh_ms)
            return false;
        c->has_input = c->has_input || has_bytes(c);
        if (c->has_input)
            continue;
        server->figures.crowded_out++;
        connection_end(c);
        return true;
    }
    return false;
}

bool places_give_up(struct server *server)
{
    return end_oldest(server, SERVER_LINGERING, FRESH_LINGER_MS) ||
           end_oldest(server, SERVER_SERVED, FRESH_SERVED_MS) ||
           end_oldest(server, SERVER_NEW, FRESH_MS) ||
           end_oldest(server, SERVER_RECEIVING, FRESH_MS);
}

bool places_give_up_guest(struct server *server)
{
    return end_oldest(server, SERVER_GUESTS, server->tls ? FRESH_HANDSHAKE_MS : FRESH_GUEST_MS);
}

static struct connection *find_silent(struct server *server, enum server_list list)
{
    for (struct connection *c = server->lists[list].first; c; c = c->next) {
        if (c->exchange)
            continue;
        c->has_input = c->has_input || has_bytes(c);
        if (!c->has_input)
            return c;
    }
    return NULL;
}

struct connection *places_find_silent(struct server *server)
{
    static const enum server_list order[] = { SERVER_LINGERING, SERVER_SERVED, SERVER_NEW,
                                              SERVER_RECEIVING };
    struct connection *found = NULL;

    for (size_t i = 0; i < sizeof order / sizeof order[0] && !found; i++)
        found = find_silent(server, order[i]);
    return found;
}

void places_shorten(struct server *server, uint64_t grace_ms)
{
    uint64_t end = weir_now_ms(server->self) + grace_ms;

    for (unsigned list = 0; list < SERVER_LISTS; list++)
        for (struct connection *c = server->lists[list].first; c; c = c->next)
            if ((c->phase == CONNECTION_IDLE || c->phase == CONNECTION_RECEIVING) &&
                c->deadline_ms > end)
                c->deadline_ms = end;
}
