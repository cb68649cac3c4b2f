/* SPDX-License-Identifier: MIT */
/*
 * user.h - the user whose rights the children of a worker have.
 *
 * Life: user_find .. user_finish. Not synchronised.
 */
#ifndef USER_H
#define USER_H

#define USER_DIGITS 12u /* a number of 32 bits, and a NUL */

struct user {
    char number[USER_DIGITS];
    char group[USER_DIGITS];
    char *groups; /* owned: the numbers of all its groups, with commas between them */
    char *name;   /* owned */
    char *home;   /* owned */
};

/* Looks a name up, or a number. May wait for a server of names. Returns 0 or an errno, ENOENT when
 * there is no such user. Borrows. */
int user_find(struct user *user, const char *name);
/* Legal on zeroed memory, after a failed user_find, and twice. */
void user_finish(struct user *user);

#endif
