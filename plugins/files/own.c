/* SPDX-License-Identifier: MIT */
#include "own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include <weir/plugin.h>

#include "listing.h"

struct own_file {
    dev_t device;
    ino_t inode;
};

static bool add(struct own *own, const struct stat *about)
{
    struct own_file *files = realloc(own->files, (own->count + 1) * sizeof *files);

    if (!files)
        return false;
    own->files = files;
    files[own->count++] = (struct own_file){ about->st_dev, about->st_ino };
    return true;
}

/* False: the host lacks memory. */
static bool look_at(struct own *own, int descriptor)
{
    int flags = fcntl(descriptor, F_GETFL);
    struct stat about;

    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return true;
    if (fstat(descriptor, &about) < 0)
        return !weir_is_short(errno);
    return !S_ISREG(about.st_mode) || add(own, &about);
}

/* Without /proc nothing is known, and nothing is left out. */
static void make(struct own *own)
{
    struct listing *descriptors = listing_open("/proc/self/fd");
    const struct dirent *entry;

    own_forget(own);
    own->is_made = descriptors || !weir_is_short(errno);
    while (descriptors && own->is_made && (entry = listing_next(descriptors))) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);

        if (end != entry->d_name && *end == '\0')
            own->is_made = look_at(own, (int)number);
    }
    listing_close(descriptors);
}

bool own_is_known(struct own *own)
{
    if (!own->is_made)
        make(own);
    return own->is_made;
}

bool own_has(struct own *own, const struct stat *about)
{
    (void)own_is_known(own);
    for (size_t i = 0; i < own->count; i++) {
        if (own->files[i].inode == about->st_ino && own->files[i].device == about->st_dev)
            return true;
    }
    return false;
}

void own_forget(struct own *own)
{
    free(own->files);
    *own = (struct own){ .files = NULL };
}
