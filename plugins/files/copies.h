/* SPDX-License-Identifier: MIT */
/*
 * copies.h - copytruncate: a file is copied, and then truncated.
 *
 * The copy has what was read of the file already: it is read on where the file was left. A new file
 * that may be such a copy waits until its original is truncated. Not synchronised.
 */
#ifndef COPIES_H
#define COPIES_H

#include "follower.h"

/* 1 when the file, which was just opened, is a copy of one that was truncated: it goes on at the
 * place where that one was. 0: it is none; -1: it cannot be read: errno. */
int copies_claim(struct follower *follower, struct followed *copy);
/* True when it has the bytes of a file that is followed, and may be a copy that is being made:
 * that file may be truncated yet. Not for longer than `rotate_wait` after its last change. */
bool copies_may_be(const struct follower *follower, const struct followed *copy);
/* 1 when this file has what was read of the file of the entry, which is no longer what it was: then
 * it goes on there. 0: it has not; -1: it cannot be read: errno. */
int copies_has(struct followed *copy, const struct bookmark_entry *entry);
/* True when a copy may have this name: longer than that of its original, with the same start. */
bool copies_is_name_of(const char *copy, const char *original);

#endif
