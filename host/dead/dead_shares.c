/* SPDX-License-Identifier: MIT */
#include "host/dead/dead_shares.h"

#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

void dead_shares_finish(struct dead_shares *shares)
{
    for (size_t i = 0; i < shares->count; i++)
        free(shares->list[i].owner);
    free(shares->list);
    *shares = (struct dead_shares){ .list = NULL };
}

size_t dead_shares_owner_size(const char *path)
{
    return strcspn(path, "/");
}

bool dead_shares_owns(const char *owner, const char *path)
{
    const size_t size = dead_shares_owner_size(path);

    return strncmp(owner, path, size) == 0 && !owner[size];
}

static struct dead_share *find(const struct dead_shares *shares, const char *path)
{
    for (size_t i = 0; i < shares->count; i++)
        if (dead_shares_owns(shares->list[i].owner, path))
            return &shares->list[i];
    return NULL;
}

/* NULL: no memory. */
static struct dead_share *add_owner(struct dead_shares *shares, const char *path)
{
    char *owner = strndup(path, dead_shares_owner_size(path));
    struct dead_share *list = owner ? realloc(shares->list, (shares->count + 1) * sizeof *list)
                                    : NULL;

    if (!list) {
        free(owner);
        return NULL;
    }
    shares->list = list;
    list[shares->count] = (struct dead_share){ .owner = owner };
    return &list[shares->count++];
}

int dead_shares_add(struct dead_shares *shares, const char *path, uint64_t bytes)
{
    struct dead_share *share = find(shares, path);

    if (!share)
        share = add_owner(shares, path);
    if (!share)
        return WEIR_ENOMEM;
    share->bytes += bytes;
    return 0;
}

uint64_t dead_shares_of(const struct dead_shares *shares, const char *path)
{
    const struct dead_share *share = find(shares, path);

    return share ? share->bytes : 0;
}

bool dead_shares_allow(uint64_t has, uint64_t size, uint64_t total, uint64_t total_max,
                       bool is_awaited)
{
    const uint64_t left = total < total_max ? total_max - total : 0;

    return total_max == 0 || has + size <= (is_awaited ? left : left / 2);
}
