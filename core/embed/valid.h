/* SPDX-License-Identifier: MIT */
/*
 * embed/valid.h - the rules for the options of a program, and which of them is broken.
 *
 * Each rule has the name of an option and a reason for people; both are constants.
 */
#ifndef EMBED_VALID_H
#define EMBED_VALID_H

#include "embed/part.h"

#define VALID_EVENT "option is not valid"

/* Why options are refused: the first rule that is broken. */
struct refusal {
    const char *option;
    const char *reason;
    int status; /* that it explains; 0: none */
};

/* Each returns 0, or WEIR_EINVALID with `why`. The structs are copies of the size of this version:
 * see use_copy. */
int valid_runtime(const struct weir_runtime_options *options, struct refusal *why);
int valid_poller(const struct weir_poller *poller, struct refusal *why);
/* `group`: the leases of the pool that it is a member of; NULL: none. */
int valid_pool(const struct weir_pool_options *options, const struct lease_settings *group,
               struct refusal *why);
int valid_actor(const struct weir_actor_options *options, struct refusal *why);
int valid_outputs(const struct weir_binding *outputs, uint32_t count, uint32_t binding_size,
                  struct refusal *why);

/* Records a reason. Returns WEIR_EINVALID. */
static inline int valid_refuse(struct refusal *why, const char *option, const char *reason)
{
    *why = (struct refusal){ option, reason, WEIR_EINVALID };
    return WEIR_EINVALID;
}

/* An option names what is not there. Returns WEIR_EUNKNOWN. */
static inline int valid_miss(struct refusal *why, const char *option, const char *reason)
{
    *why = (struct refusal){ option, reason, WEIR_EUNKNOWN };
    return WEIR_EUNKNOWN;
}

/* Writes the line of the log, for the status that `why` explains. Returns `status`. No lock is
 * held. */
int valid_report(const struct weir_runtime *runtime, const char *component, int status,
                 const struct refusal *why);

#endif
