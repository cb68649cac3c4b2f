/*
 * pages/inspections.h - what the control socket asks actors of themselves, until they answer.
 *
 * An actor answers in a turn of its own, behind the message in hand. The I/O thread does not wait
 * for it: the answer wakes it, and it collects. Who has not answered in INSPECTIONS_PATIENCE_MS is
 * busy in a handler, and that is the answer.
 *
 * Life: init .. finish, when the runtime has ended. Everything on the I/O thread, but for
 * `on_answer`, which is called on the thread that answers.
 */
#ifndef HOST_PAGES_INSPECTIONS_H
#define HOST_PAGES_INSPECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/plugin.h>

struct assembly;
struct connection;
struct inspection_request;

#define INSPECTIONS_PATIENCE_MS 5000

struct inspections {
    struct assembly *assembly;        /* const */
    void (*on_answer)(void *context); /* const */
    void *context;                    /* const */
    struct inspection_request *open;  /* oldest first */
};

/* Whom, and for what. Borrowed until return, but for the connection. */
struct inspections_question {
    const char *path;  /* of a pool, source or worker (`pool#3`), a registered name, or a PID */
    const char *items; /* names with commas between them; "" = all */
    bool wants_text;
    struct connection *connection; /* gets the answer, once */
};

void inspections_init(struct inspections *inspections, struct assembly *assembly,
                      void (*on_answer)(void *context), void *context);
/* Clients that still wait get no answer. */
void inspections_finish(struct inspections *inspections);

/* Asks. On 0 the connection is answered later; WEIR_EUNKNOWN, WEIR_ETERMINATED: nobody of that
 * name; WEIR_EINVALID: too many items; WEIR_ENOMEM. */
int inspections_ask(struct inspections *inspections, const struct inspections_question *question);

/* Answers those that can be answered, and those whose time is over. */
void inspections_collect(struct inspections *inspections);

#endif
