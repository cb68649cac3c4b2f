/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - the warning that files wait for descriptors or memory.
 */
#ifndef WAITING_H
#define WAITING_H

#include <weir/plugin.h>

/* Logs the first file that waits; not again while `is_logged`. */
void waiting_log(struct weir_self *self, bool *is_logged, const char *path, int error);

#endif
