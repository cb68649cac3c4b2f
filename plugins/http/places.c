#include "places.h"

#include <poll.h>

#define FRESH_MS 1000u       /* its request, or the next flight of TLS, may be on its way */
#define FRESH_SHORT_MS 100u  /* against a request that is there; without TLS, and for guests */
#define FRESH_LINGER_MS 100u /* its last bytes may be on their way */

void connection_expire(struct server *server)
{
    uint64_t now = weir_now_ms(server->self);

    for (unsigned list = 0; list < SERVER_LISTS; list++)
        for (struct connection *c = server->lists[list].first, *next; c; c = next) {
            next = c->next;
            if (c->deadline_ms > now)
                continue;
            server->figures.expired += c->phase != CONNECTION_LINGERING;
            connection_end(c);
        }
}

/* Whether bytes that nobody has read lie in the socket. */
static bool has_bytes(const struct connection *connection)
{
    struct pollfd look = { .fd = connection->descriptor, .events = POLLIN };

    return poll(&look, 1, 0) > 0 && (look.revents & POLLIN) != 0;
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

static bool give_up(struct server *server, uint64_t fresh_ms)
{
    return end_oldest(server, SERVER_LINGERING, FRESH_LINGER_MS) ||
           end_oldest(server, SERVER_SERVED, 0) || end_oldest(server, SERVER_NEW, fresh_ms) ||
           end_oldest(server, SERVER_RECEIVING, fresh_ms);
}

static uint64_t short_time(const struct server *server)
{
    return server->tls ? FRESH_MS : FRESH_SHORT_MS;
}

bool places_give_up(struct server *server)
{
    return give_up(server, FRESH_MS);
}

bool places_give_up_for_request(struct server *server)
{
    return give_up(server, short_time(server));
}

bool places_give_up_guest(struct server *server)
{
    return end_oldest(server, SERVER_GUESTS, short_time(server));
}

void connection_shorten(struct server *server, uint64_t grace_ms)
{
    uint64_t end = weir_now_ms(server->self) + grace_ms;

    for (unsigned list = 0; list < SERVER_LISTS; list++)
        for (struct connection *c = server->lists[list].first; c; c = c->next)
            if ((c->phase == CONNECTION_IDLE || c->phase == CONNECTION_RECEIVING) &&
                c->deadline_ms > end)
                c->deadline_ms = end;
}
