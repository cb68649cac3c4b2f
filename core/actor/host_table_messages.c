#include "actor/host_table_messages.h"

#include "actor/origin.h"

int host_set_origin(struct weir_self *self, struct weir_message *message, uint64_t token)
{
    return origin_set(actor_of_self(self), message_of(message), token);
}
