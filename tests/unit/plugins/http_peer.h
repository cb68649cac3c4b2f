/* SPDX-License-Identifier: MIT */
/*
 * http_peer.h - an http.client in the kit, and the server that it asks: a socket of the test, which
 * answers with given bytes.
 *
 * Life: peer_open .. peer_finish, one at a time. Every failure here fails the test.
 */
#ifndef HTTP_PEER_H
#define HTTP_PEER_H

#include <weir/testkit.h>

#define PEER_OK "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-One: 1\r\n\r\nyes"
#define PEER_CHUNKED                                                                               \
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nye\r\n1\r\ns\r\n0\r\n\r\n"

extern int peer_listener;
extern unsigned peer_port;
extern char peer_asked[16384]; /* the last request */

/* Opens peer_listener; peer_open does it, too. */
void peer_listen(void);
/* A client of `http://127.0.0.1:PORT/a?b={payload}`; `more` are other settings, as YAML. */
struct weir_kit *peer_open(const char *more);
void peer_finish(struct weir_kit *kit);

void peer_turn(struct weir_kit *kit);
/* Gives the client a message that it keeps. */
void peer_hand_over(struct weir_kit *kit, const char *text);
/* Turns until the client keeps no message, and expects as many verdicts of this kind so far. */
void peer_settled(struct weir_kit *kit, enum weir_verdict verdict, size_t count);

int peer_accept(struct weir_kit *kit);
/* Closes the connections that nobody has accepted; on a busy machine there may be none yet. */
void peer_drop_clients(void);
/* Reads a request into peer_asked until `end` is in it. */
void peer_read_until(struct weir_kit *kit, int client, const char *end);
/* Answers, and closes the connection. */
void peer_answer(int client, const char *answer);
/* Answers one request. */
void peer_serve(struct weir_kit *kit, const char *answer);

void peer_expect_text(const struct weir_message *message, const char *tag, const char *text);
/* A message that is answered in this way, by a client with `more`, ends like this. */
void peer_expect(const char *more, const char *answer, enum weir_verdict verdict,
                 const char *reason);

#endif
