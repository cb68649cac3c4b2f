/* SPDX-License-Identifier: MIT */
#include "host/dead/dead_output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/plugin.h>
#include <weir/settling.h>

#include "host/dead/dead_record.h"

static int write_at(int descriptor, const char *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t written = pwrite(descriptor, bytes, size, (off_t)offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        bytes += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return 0;
}

/* A new name is on the disk when its folder is. */
static int sync_folder(const char *path)
{
    char *copy = strdup(path);
    int descriptor, error = 0;

    if (!copy)
        return ENOMEM;
    descriptor = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    if (descriptor < 0)
        return errno;
    if (fsync(descriptor) < 0)
        error = errno;
    (void)close(descriptor);
    return error;
}

/* Goes through the records. A file of version 1 without any begins again. */
static int measure(struct dead_output *output)
{
    struct dead_reader reader;
    struct dead_entry entry;
    int error = dead_reader_open(&reader, output->path), found = 0;
    const uint64_t first_line = reader.end;

    output->is_older = reader.version == 1 && reader.size > first_line;
    while (error == 0 && !output->is_older && (found = dead_reader_next(&reader, &entry)) > 0)
        if (dead_shares_add(&output->shares, entry.record.path, reader.end - entry.offset) != 0)
            error = ENOMEM;
    if (found < 0)
        error = errno;
    output->size = reader.version == 1 ? 0 : reader.end;
    output->records = reader.number;
    output->cut = reader.size - reader.end;
    dead_reader_finish(&reader);
    return error;
}

static int begin(struct dead_output *output)
{
    const size_t size = strlen(DEAD_FILE_FIRST_LINE);
    int error = write_at(output->descriptor, DEAD_FILE_FIRST_LINE, size, 0);

    output->cut = 0;
    output->size = size;
    if (error == 0 && fsync(output->descriptor) < 0)
        error = errno;
    return error ? error : sync_folder(output->path);
}

static int make_ready(struct dead_output *output)
{
    int error = weir_settling_check_open_(output->descriptor);

    if (error != 0)
        return error;
    if (flock(output->descriptor, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? EBUSY : errno;
    error = measure(output);
    if (error != 0 || output->is_older)
        return error;
    if (output->cut > 0 &&
        (ftruncate(output->descriptor, (off_t)output->size) < 0 || fsync(output->descriptor) < 0))
        return errno;
    return output->size == 0 ? begin(output) : 0;
}

/* 0 or an errno. */
static int find_device(const char *path, uint64_t *out_device)
{
    char *copy = strdup(path);
    struct stat about;
    int error = copy ? 0 : ENOMEM;

    if (error == 0 && stat(dirname(copy), &about) < 0)
        error = errno;
    free(copy);
    if (error == 0)
        *out_device = about.st_dev;
    return error;
}

static int open_path(struct dead_output *output)
{
    int error = weir_settling_check(output->path);

    if (error == 0)
        error = find_device(output->path, &output->device);
    if (error != 0)
        return error;
    output->descriptor = open(output->path,
                              O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                              S_IRUSR | S_IWUSR);
    return output->descriptor < 0 ? errno : make_ready(output);
}

/* The file of version 1 gets another name, and PATH is a new file. */
static int begin_next_version(struct dead_output *output)
{
    const size_t size = strlen(output->path) + sizeof DEAD_FILE_OLDER;
    char *older = malloc(size);
    struct stat about;
    int error = 0;

    if (!older)
        return ENOMEM;
    (void)snprintf(older, size, "%s%s", output->path, DEAD_FILE_OLDER);
    if (lstat(older, &about) == 0)
        error = EEXIST;
    else if (errno != ENOENT || rename(output->path, older) < 0)
        error = errno;
    free(older);
    if (error != 0)
        return error;
    (void)close(output->descriptor);
    error = open_path(output);
    output->is_older = true;
    return error;
}

int dead_output_open(const char *path, struct dead_output **out)
{
    struct dead_output *output = calloc(1, sizeof *output);
    int error = ENOMEM;

    if (!output)
        return error;
    output->descriptor = -1;
    output->path = strdup(path);
    if (output->path)
        error = open_path(output);
    if (error == 0 && output->is_older)
        error = begin_next_version(output);
    if (error != 0) {
        dead_output_close(output);
        return error;
    }
    *out = output;
    return 0;
}

void dead_output_close(struct dead_output *output)
{
    if (!output)
        return;
    if (output->descriptor >= 0)
        (void)close(output->descriptor);
    dead_shares_finish(&output->shares);
    free(output->path);
    free(output);
}

/* The device of the folder, or of the deepest one above it that is there. 0 or an errno. */
static int find_device_above(const char *path, uint64_t *out_device)
{
    char *copy = strdup(path), *folder = copy;
    int error = copy ? find_device(path, out_device) : ENOMEM;

    while (error == ENOENT && strcmp(folder, "/") != 0 && strcmp(folder, ".") != 0) {
        folder = dirname(folder);
        error = find_device(folder, out_device);
    }
    free(copy);
    return error;
}

/* 0, ESTALE, ENODEV, or another errno: it cannot be known now. */
static int look_for_file(const struct dead_output *output)
{
    uint64_t device;
    struct stat about;
    int error = find_device_above(output->path, &device);

    if (error != 0)
        return error;
    if (device != output->device)
        return ENODEV;
    if (fstat(output->descriptor, &about) < 0)
        return errno;
    return about.st_nlink > 0 ? 0 : ESTALE;
}

int dead_output_append(struct dead_output *output, const char *bytes, size_t size, uint64_t records)
{
    int error = look_for_file(output);

    if (error != 0)
        return error;
    error = write_at(output->descriptor, bytes, size, output->size);
    if (error == 0 && fdatasync(output->descriptor) < 0)
        error = errno;
    if (error != 0) /* after a failed sync the pages count as written: they are written again */
        return ftruncate(output->descriptor, (off_t)output->size) < 0 ? errno : error;
    output->size += size;
    output->records += records;
    return 0;
}

bool dead_output_has_its_path(const struct dead_output *output)
{
    struct stat here, there;

    return fstat(output->descriptor, &here) == 0 && stat(output->path, &there) == 0 &&
           here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

const char *dead_output_reason(const char *path, int error, char *text, size_t size)
{
    switch (error) {
    case EBUSY:
        return "another process writes it";
    case EILSEQ:
        return "it is not a file of dead letters";
    case EEXIST:
        return "it is of version 1, and its new name, which ends with " DEAD_FILE_OLDER
               ", is taken: move both files";
    case ESTALE:
        return "it was deleted";
    case ENODEV:
        return "its file system is not mounted";
    case EFBIG:
        return "the share of a pool in its largest size, dead_letters.file_size, is used up";
    default:
        return weir_settling_reason(path, error, text, size);
    }
}
