/* SPDX-License-Identifier: MIT */
#include "renewal.h"

#include "tls.h"

#define DAY_SECONDS 86400
#define SOON_SECONDS (14 * DAY_SECONDS)

void renewal_warn(struct weir_self *self, const struct server *server)
{
    int64_t left = server->tls ? tls_seconds_left(server->tls) : SOON_SECONDS;

    if (server->tls && tls_seconds_until_valid(server->tls) > 0)
        weir_log(self, WEIR_LOG_WARNING, "certificate is not valid yet",
                 weir_str("path", server->settings->certificate),
                 weir_str("effect", "clients refuse it until then"));
    if (left >= SOON_SECONDS)
        return;
    if (left < 0)
        weir_log(self, WEIR_LOG_WARNING, "certificate has ended",
                 weir_str("path", server->settings->certificate),
                 weir_str("effect", "clients refuse it; renew it, and reload"));
    else
        weir_log(self, WEIR_LOG_WARNING, "certificate ends soon",
                 weir_str("path", server->settings->certificate),
                 weir_int("days", left / DAY_SECONDS));
}

int renewal_begin(struct weir_self *self, struct server *server)
{
    struct tls_reason reason;

    if (!server->settings->certificate)
        return 0;
    server->tls = tls_create(server->settings, &reason);
    if (!server->tls) {
        weir_reason(self, "%s", reason.text);
        return WEIR_EINVALID;
    }
    renewal_warn(self, server);
    return 0;
}

void renewal_look(struct weir_self *self, struct server *server)
{
    struct tls_reason reason;
    SSL_CTX *read;

    if (!server->tls)
        return;
    read = tls_create(server->settings, &reason);
    if (!read) {
        weir_log(self, WEIR_LOG_ERROR, "certificate cannot be read; the former one is kept",
                 weir_str("reason", reason.text));
        return;
    }
    if (!tls_is_same(read, server->tls))
        weir_log(self, WEIR_LOG_INFO, "certificate is renewed",
                 weir_str("path", server->settings->certificate),
                 weir_int("days", tls_seconds_left(read) / DAY_SECONDS));
    tls_destroy(server->tls);
    server->tls = read;
    renewal_warn(self, server);
}
