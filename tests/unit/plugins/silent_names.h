/* SPDX-License-Identifier: MIT */
/*
 * silent_names.h - a name server that says nothing, for tests of plugins that look names up.
 *
 * The test program has a getaddrinfo of its own, which all its libraries find before that of libc.
 * A name that ends with ".silent" is not answered until silent_names_answer.
 */
#ifndef SILENT_NAMES_H
#define SILENT_NAMES_H

#include <stdint.h>

/* Look-ups that wait for an answer. Any thread. */
uint32_t silent_names_waiting(void);
/* Answers all of them, now and later, that the name does not exist; returns when none waits. */
void silent_names_answer(void);
/* As at the start of the program. */
void silent_names_be_silent(void);

#endif
