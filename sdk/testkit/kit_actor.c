#include "kit_actor.h"

#include <string.h>

int kit_actor_lookup(struct weir_self *self, const char *name, weir_pid *out_pid)
{
    const struct kit_name *known = kit_of(self)->names;

    while (known && strcmp(known->name, name) != 0)
        known = known->next;
    if (!known)
        return WEIR_EUNKNOWN;
    *out_pid = known->pid;
    return 0;
}

int kit_actor_tie(struct weir_self *self, weir_pid other)
{
    (void)self;
    return other ? 0 : WEIR_EUNKNOWN;
}

int kit_actor_monitor(struct weir_self *self, weir_pid other, uint64_t *out_monitor)
{
    if (!other)
        return WEIR_EUNKNOWN;
    if (out_monitor)
        *out_monitor = ++kit_of(self)->last_number;
    return 0;
}

int kit_actor_demonitor(struct weir_self *self, uint64_t number)
{
    return number && number <= kit_of(self)->last_number ? 0 : WEIR_EUNKNOWN;
}

int kit_actor_trap_exits(struct weir_self *self, bool on)
{
    (void)self;
    (void)on;
    return 0;
}

int kit_actor_exit(struct weir_self *self, weir_pid other, enum weir_end_reason why)
{
    (void)why;
    return kit_actor_tie(self, other);
}

int kit_actor_name(struct weir_self *self, const char *name)
{
    weir_pid pid;

    return kit_actor_lookup(self, name, &pid) == 0 ? WEIR_EEXISTS : 0;
}

int kit_actor_rename(struct weir_self *self, const char *from, const char *to)
{
    return from && to && from[0] && to[0] ? kit_actor_name(self, to) : WEIR_EINVALID;
}
