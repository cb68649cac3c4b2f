/* SPDX-License-Identifier: MIT */
#include "address.h"

#include <amqp.h>
#include <string.h>

const char *address_parse(const char *text, struct address *out)
{
    struct amqp_connection_info info;

    if (strncmp(text, "amqp://", 7) != 0 && strncmp(text, "amqps://", 8) != 0)
        return "an address begins with amqp:// or amqps://";
    if (strlen(text) >= sizeof out->text)
        return "the address is too long";
    if (strchr("/:", *(strchr(text, '/') + 2))) /* also at the end of the text */
        return "the address has no host";
    if (strchr(text, '@'))
        return "no user and password in an address: they are options";
    memcpy(out->text, text, strlen(text) + 1);
    if (amqp_parse_url(out->text, &info) != AMQP_STATUS_OK || !info.host[0])
        return "the address is not amqp://host:port/vhost";
    out->is_tls = info.ssl;
    out->port = info.port;
    out->host = info.host;
    out->vhost = info.vhost;
    return NULL;
}
