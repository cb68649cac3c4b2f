/* SPDX-License-Identifier: MIT */
#include "lookups.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "settling.h"

/* libcurl measures its time-outs from a little earlier than lookups_begin. */
#define MARGIN_MS 10u
#define NEVER UINT64_MAX

/* --- one look-up ------------------------------------------------------------------------------ */

int lookups_begin(void *resolver, void *reserved, void *context)
{
    struct fetch *fetch = context;
    struct client *client = fetch->client;
    const struct client_settings *settings = client->settings;

    (void)resolver;
    (void)reserved;
    if (client->late_count >= settings->parallel) {
        fetch_fail(fetch, FETCH_CROWDED, "too many look-ups of names have not ended");
        return 1;
    }
    fetch->lookup_ms = fetch_now_ms() + settings->connect_timeout;
    if (fetch->end_ms < fetch->lookup_ms)
        fetch->lookup_ms = fetch->end_ms;
    if (fetch->lookup_ms < client->lookup_ms)
        client->lookup_ms = fetch->lookup_ms;
    return 0;
}

/* libcurl does not pass on why there is no socket. */
curl_socket_t lookups_end(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct fetch *fetch = context;
    int made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

    (void)purpose;
    fetch->lookup_ms = 0;
    if (made < 0 && weir_is_short(errno))
        fetch_lack(fetch, errno);
    return made < 0 ? CURL_SOCKET_BAD : made;
}

/* --- late ones -------------------------------------------------------------------------------- */

/* curl_opensocket_callback. */
static curl_socket_t open_none(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)context;
    (void)purpose;
    (void)address;
    return CURL_SOCKET_BAD;
}

/* The transfer outlives the fetch: nothing of it is used from here. */
static void leave(struct fetch *fetch)
{
    struct client *client = fetch->client;
    CURL *easy = fetch->easy;

    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, NULL);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_none);
    (void)curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, NULL);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)INT_MAX);
    client->late[client->late_count++] = easy;
    fetch->easy = NULL;
    fetch->lookup_ms = 0;
}

void lookups_give_up(struct weir_self *self, struct fetch *fetch)
{
    if (fetch->lookup_ms)
        leave(fetch);
    else
        engine_remove(self, &fetch->client->engine, fetch->easy);
}

void lookups_expire(struct weir_self *self, void *memory)
{
    struct client *client = memory;
    uint64_t limit = fetch_now_ms() + MARGIN_MS;

    if (limit < client->lookup_ms)
        return;
    client->lookup_ms = NEVER;
    for (struct fetch *fetch = client->first, *next; fetch; fetch = next) {
        next = fetch->next;
        if (fetch->lookup_ms && fetch->lookup_ms <= limit) {
            leave(fetch);
            settling_end(self, fetch, CURLE_OPERATION_TIMEDOUT);
        } else if (fetch->lookup_ms && fetch->lookup_ms < client->lookup_ms) {
            client->lookup_ms = fetch->lookup_ms;
        }
    }
}

void lookups_forget(struct client *client, CURL *easy)
{
    for (uint32_t i = 0; i < client->late_count; i++)
        if (client->late[i] == easy) {
            client->late[i] = client->late[--client->late_count];
            break;
        }
    curl_easy_cleanup(easy);
}

/* --- life ------------------------------------------------------------------------------------- */

int lookups_open(struct client *client)
{
    client->lookup_ms = NEVER;
    client->late = calloc((size_t)client->settings->parallel * 2, sizeof(CURL *));
    return client->late ? 0 : WEIR_ENOMEM;
}

void lookups_close(struct weir_self *self, struct client *client)
{
    while (client->late_count > 0) {
        CURL *easy = client->late[--client->late_count];

        engine_remove(self, &client->engine, easy);
        curl_easy_cleanup(easy);
    }
    free(client->late);
    client->late = NULL;
}
