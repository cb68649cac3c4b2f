/* SPDX-License-Identifier: MIT */
/*
 * weir/process.h - names the process that works for a worker.
 *
 * Part of <weir/plugin.h>: include that.
 */
#ifndef WEIR_PROCESS_H
#define WEIR_PROCESS_H

#include "host.h"

/*
 * Names the process that works for this worker from now on, in place of an earlier one; 0: none.
 * `weir status --members` shows its PID, memory and time of the CPU, and `weir restart --now` kills
 * it. The name ends with the incarnation.
 *
 * `process` is a child of the host that this worker reaps: name 0 before the process is reaped
 * (waitpid), since its number may then belong to another process. The call does not watch or end
 * the process. Negative numbers count as 0. Since 1.1.
 */
WEIR_INLINE void weir_child_process(struct weir_self *self, int64_t process)
{
    self->host->child_process(self, process);
}

#endif
