/*
 * pages/inspections.h - requests of the control socket to actors (`weir inspect`), until they
 * answer.
 *
 * An actor answers in a turn of its own, after the message that it handles. The I/O thread does not
 * wait: the answer wakes it, and inspections_collect fetches the answer. After
 * INSPECTIONS_TIMEOUT_MS without an answer the client reads that the actor is busy in a handler.
 *
 * Life: init .. finish, when the runtime has ended. All calls on the I/O thread; `on_answer` is
 * called on the thread that answers.
 */
#ifndef HOST_PAGES_INSPECTIONS_H
#define HOST_PAGES_INSPECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/plugin.h>

struct assembly;
struct connection;
struct inspection_request;

#define INSPECTIONS_TIMEOUT_MS 5000

struct inspections {
    struct assembly *assembly;        /* const */
    void (*on_answer)(void *context); /* const */
    void *context;                    /* const */
    struct inspection_request *open;  /* oldest first */
};

/* The actor and the items. Borrowed until return, except for the connection. */
struct inspections_question {
    const char *path;  /* of a pool, source or worker (`pool#3`), a registered name, or a PID */
    const char *items; /* names with commas between them; "" = all */
    bool wants_text;
    struct connection *connection; /* gets one answer */
};

void inspections_init(struct inspections *inspections, struct assembly *assembly,
                      void (*on_answer)(void *context), void *context);
/* Clients that still wait get no answer. */
void inspections_finish(struct inspections *inspections);

/* Sends the question. On 0 the connection is answered later; WEIR_EUNKNOWN, WEIR_ETERMINATED: no
 * actor has that name; WEIR_EINVALID: too many items; WEIR_ENOMEM. */
int inspections_ask(struct inspections *inspections, const struct inspections_question *question);

/* Answers the clients whose answer has arrived or whose time is over. */
void inspections_collect(struct inspections *inspections);

#endif
