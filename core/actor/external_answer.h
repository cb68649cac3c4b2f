/* SPDX-License-Identifier: MIT */
/*
 * actor/external_answer.h - answers requests of outside threads, and wakes these: external_table.h.
 * Any thread.
 */
#ifndef ACTOR_EXTERNAL_ANSWER_H
#define ACTOR_EXTERNAL_ANSWER_H

#include "actor/external_table.h"

/*
 * Answers: `reply` with status 0, else NULL. Takes the reply when it returns true; false: the
 * request has been given up or answered.
 */
bool external_requests_answer(struct external_requests *requests, uint64_t reference, int status,
                              struct message *reply, const char *detail);

/* Likewise for an open request without an answer, whose table is locked. */
void external_requests_answer_locked(struct external_requests *requests,
                                     struct external_request *request, int status,
                                     struct message *reply, const char *detail);

#endif
