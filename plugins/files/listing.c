/* SPDX-License-Identifier: MIT */
#include "listing.h"

#include <stdlib.h>

struct listing {
    struct dirent **entries; /* owned, each from malloc */
    int count;
    int next;
};

struct listing *listing_open(const char *folder)
{
    struct listing *listing = calloc(1, sizeof *listing);

    if (!listing)
        return NULL;
    listing->count = scandir(folder, &listing->entries, NULL, NULL);
    if (listing->count >= 0)
        return listing;
    free(listing);
    return NULL;
}

struct dirent *listing_next(struct listing *listing)
{
    return listing->next < listing->count ? listing->entries[listing->next++] : NULL;
}

void listing_close(struct listing *listing)
{
    if (!listing)
        return;
    for (int i = 0; i < listing->count; i++)
        free(listing->entries[i]);
    free(listing->entries);
    free(listing);
}

/* --- for glob --------------------------------------------------------------------------------- */

static void *open_for_glob(const char *folder)
{
    return listing_open(folder);
}

static struct dirent *next_for_glob(void *listing)
{
    return listing_next(listing);
}

static void close_for_glob(void *listing)
{
    listing_close(listing);
}

void listing_for_glob(glob_t *out)
{
    out->gl_opendir = open_for_glob;
    out->gl_readdir = next_for_glob;
    out->gl_closedir = close_for_glob;
}
