/* SPDX-License-Identifier: MIT */
#include "actor/send.h"

#include "actor/deliver.h"
#include "actor/find.h"
#include "actor/router.h"
#include "actor/runtime.h"

int send_leaving(struct runtime *runtime, struct executor *executor, weir_pid to,
                 struct message *message, struct message_list *left)
{
    struct actor *actor;
    int status = actor_find_alive(runtime, to, &actor);

    if (status != 0)
        return status;
    if (actor->router)
        return actor->router->ops->route(actor->router, executor, message, left);
    return deliver_to_actor(actor, actor_serial_of(to), executor, message);
}

__attribute__((noinline)) int send_ahead(struct runtime *runtime, struct executor *executor,
                                         weir_pid to, enum weir_lane lane, struct message *message)
{
    struct actor *actor;
    int status = actor_find_alive(runtime, to, &actor);

    return status != 0 ? status
                       : deliver_to_lane(actor, actor_serial_of(to), executor, lane, message);
}

int send_chain(struct runtime *runtime, struct executor *executor, weir_pid to,
               struct message *const *messages, uint32_t count)
{
    struct actor *actor;
    int status = actor_find_alive(runtime, to, &actor);

    if (status != 0 || count == 0)
        return status;
    if (actor->router)
        return actor->router->ops->route_chain(actor->router, executor, messages, count);
    status = deliver_chain_to_actor(actor, actor_serial_of(to), executor, messages, count);
    if (status != WEIR_ECLOSED)
        return status;
    status = deliver_to_actor(actor, actor_serial_of(to), executor, messages[0]);
    return status == 0 ? 1 : status;
}

int send_control(struct runtime *runtime, struct executor *executor, weir_pid to,
                 struct message *message)
{
    struct actor *actor;
    int status = actor_find_alive(runtime, to, &actor);

    return status != 0 ? status
                       : deliver_to_control_queue(actor, actor_serial_of(to), executor, message);
}

int send_notice(struct runtime *runtime, struct executor *executor, weir_pid to,
                struct message *message)
{
    struct actor *actor;
    int status = actor_find_alive(runtime, to, &actor);

    return status != 0 ? status : deliver_notice(actor, actor_serial_of(to), executor, message);
}
