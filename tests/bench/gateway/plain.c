/* SPDX-License-Identifier: MIT */
/*
 * plain.c - the peer of ./dev bench http: the smallest program on libmicrohttpd. Its one thread
 * runs the library's loop on epoll.
 *
 *     plain PORT
 *
 * It ends when its standard input ends.
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT "hello\n"
#define CONNECTIONS_MAX 4000u

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **request)
{
    static char text[] = TEXT;
    struct MHD_Response *response;
    enum MHD_Result queued;

    (void)context;
    (void)url;
    (void)method;
    (void)version;
    (void)data;
    if (!*request) {
        *request = text; /* the head is there; the next call has the whole request */
        return MHD_YES;
    }
    *size = 0;
    response = MHD_create_response_from_buffer(sizeof TEXT - 1, text, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain");
    queued = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return queued;
}

int main(int count, char **words)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    struct MHD_Daemon *daemon;
    char byte;

    if (count != 2)
        return 2;
    address.sin_port = htons((uint16_t)strtoul(words[1], NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, NULL,
                              MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
                              MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_END);
    if (!daemon) {
        (void)fprintf(stderr, "plain: the library does not start\n");
        return 1;
    }
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    MHD_stop_daemon(daemon);
    return 0;
}
