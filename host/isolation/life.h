/* SPDX-License-Identifier: MIT */
/*
 * isolation/life.h - the process of one isolated worker: its start, its end, and how it ended.
 *
 * The process leads a group of its own, which ends with it, and with the host, also when SIGKILL
 * ends the host: a pipe, whose write end only the host has, sends SIGKILL to the group when it
 * closes.
 *
 * Life: life_start .. life_end. Not synchronised.
 */
#ifndef HOST_ISOLATION_LIFE_H
#define HOST_ISOLATION_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct life {
    pid_t process;
    int end;      /* pidfd: readable when the process has ended */
    int lifeline; /* the write end */
};

/* Starts `weir worker` with these descriptors (borrowed). Returns 0 or an errno. */
int life_start(struct life *life, int bell, int segment, int image);
/* Bounds the memory that the process may allocate, in bytes, and its open descriptors; 0 = as the
 * host. */
void life_limit(const struct life *life, uint64_t memory, uint32_t files);
/* Its memory in RAM, in bytes; 0 when it has ended. */
uint64_t life_memory(const struct life *life);
/* True when the process has ended; it is not reaped. */
bool life_is_over(const struct life *life);
/* Kills the process and its group, and reaps it. Writes how it ended to `how`: "killed by
 * SIGSEGV". */
void life_end(struct life *life, char *how, size_t size);

#endif
