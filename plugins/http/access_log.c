/* SPDX-License-Identifier: MIT */
#include "access_log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weir/output_file.h>

#define LINE_SIZE 4096 /* PIPE_BUF; a longer URI is cut */
#define URI_SIZE_MAX 3800

int access_log_open(const struct server *server)
{
    const char *path = server->settings->access_log;

    return path ? weir_output_open_now(path, 0640) : -1;
}

static void write_time(char *text, size_t size)
{
    time_t now = time(NULL);
    struct tm utc;

    if (!gmtime_r(&now, &utc) || strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        text[0] = '\0';
}

/* Quotes, backslashes and bytes that do not print become `?`. */
static void clean(const char *uri, char *out, size_t size)
{
    size_t i;

    for (i = 0; uri[i] && i + 1 < size; i++)
        out[i] = uri[i] > ' ' && uri[i] < 0x7f && uri[i] != '"' && uri[i] != '\\' ? uri[i] : '?';
    out[i] = '\0';
}

void access_log_write(const struct server *server, const struct exchange *exchange)
{
    char line[LINE_SIZE], uri[URI_SIZE_MAX], method[20], when[32];
    uint64_t time_ms = weir_now_ms(server->self) - exchange->start_ms;
    int size;

    if (server->access_log < 0)
        return;
    write_time(when, sizeof when);
    clean(exchange->uri ? exchange->uri : "-", uri, sizeof uri);
    clean(exchange->method[0] ? exchange->method : "-", method, sizeof method);
    size = snprintf(line, sizeof line, "%s %s \"%.16s %s\" %u %zu %llu\n", when,
                    exchange->connection->peer, method, uri,
                    exchange->is_lost ? 499 : exchange->status, exchange->answer_size,
                    (unsigned long long)time_ms);
    /* A full disk, or a reader that does not read, stops no request. */
    if (write(server->access_log, line, (size_t)size) < 0)
        weir_log(server->self, WEIR_LOG_WARNING, "a line of the access log is lost",
                 weir_str("path", server->settings->access_log),
                 weir_str("reason", strerrordesc_np(errno)));
}
