/* SPDX-License-Identifier: MIT */
#include "unit/support/job.h"

#include <stdlib.h>
#include <string.h>

#include "actor/send.h"

/* An order of which the worker sends the inner one. */
struct envelope {
    struct order outer;
    struct job job;
};

static int send_inner(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    const struct job *job = &((const struct envelope *)message->data)->job;
    struct weir_message *sent;

    (void)probe;
    if (job->label)
        sent = weir_message_new_labelled(self, NULL, sizeof job->order, job->label);
    else
        sent = weir_message_new(self, NULL, sizeof job->order);
    if (!sent)
        abort();
    memcpy(sent->data, &job->order, sizeof job->order);
    if (weir_set_origin(self, sent, job->order.id) != 0 || weir_send(self, job->to, sent) != 0)
        abort();
    return WEIR_DONE;
}

void job_send(struct rig *rig, struct job job)
{
    struct executor *executor = runtime_enter(rig->runtime);
    struct envelope envelope = { { .act = send_inner }, job };
    struct message *message = message_create(&executor->cache, NULL, sizeof envelope);

    if (!message)
        abort();
    memcpy(message->public.data, &envelope, sizeof envelope);
    if (send_message(rig->runtime, executor, job.by, WEIR_NORMAL, message) != 0)
        abort();
    runtime_leave(executor);
}
