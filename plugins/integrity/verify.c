/* SPDX-License-Identifier: MIT */
#include "verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/status.h>

/* Few system calls for each file (nine of ten of Debian's are smaller), and it stays in the L2
 * cache. */
#define BUFFER_SIZE (128u * 1024u)

static int set_up(struct verifier *verifier, const char *root, const char **out_why)
{
    verifier->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *out_why = "root cannot be opened";
    if (verifier->root < 0)
        return WEIR_EINVALID;
    verifier->md5 = EVP_MD_fetch(NULL, "MD5", NULL);
    *out_why = "libcrypto offers no MD5";
    if (!verifier->md5)
        return WEIR_EUNSUPPORTED;
    verifier->context = EVP_MD_CTX_new();
    verifier->buffer = malloc(BUFFER_SIZE);
    *out_why = "out of memory";
    return verifier->context && verifier->buffer ? 0 : WEIR_ENOMEM;
}

int verifier_init(struct verifier *verifier, const char *root, const char **out_why)
{
    int status;
    int error;

    *verifier = (struct verifier){ .root = -1 };
    status = set_up(verifier, root, out_why);
    if (status == 0)
        return 0;
    error = errno;
    verifier_finish(verifier);
    errno = error;
    return status;
}

void verifier_finish(struct verifier *verifier)
{
    if (verifier->root >= 0)
        (void)close(verifier->root);
    EVP_MD_CTX_free(verifier->context);
    EVP_MD_free(verifier->md5);
    free(verifier->buffer);
    *verifier = (struct verifier){ .root = -1 };
}

static void conclude(struct verified *verified, enum integrity_verdict verdict, int error)
{
    verified->verdict = verdict;
    verified->error = error;
}

/* A part of the path that is no directory counts as a missing file. */
static void conclude_error(struct verified *verified, int error)
{
    bool absent = error == ENOENT || error == ENOTDIR;

    conclude(verified, absent ? INTEGRITY_MISSING : INTEGRITY_UNREADABLE, error);
}

static ssize_t read_some(int descriptor, unsigned char *buffer)
{
    ssize_t got;

    do
        got = read(descriptor, buffer, BUFFER_SIZE);
    while (got < 0 && errno == EINTR);
    return got;
}

/*
 * Sums the file. A read that reaches the size of the open file is the last one: that saves a system
 * call for each of many small files. Files of /proc have size 0, and are read to the end.
 */
static int sum_content(struct verifier *verifier, int descriptor, uint64_t size, uint64_t *bytes)
{
    if (!EVP_DigestInit_ex2(verifier->context, verifier->md5, NULL))
        return ENOMEM;
    do {
        ssize_t got = read_some(descriptor, verifier->buffer);

        if (got < 0)
            return errno;
        if (got == 0)
            break;
        if (!EVP_DigestUpdate(verifier->context, verifier->buffer, (size_t)got))
            return ENOMEM;
        *bytes += (uint64_t)got;
    } while (size == 0 || *bytes < size);
    return 0;
}

static void compare_sum(struct verifier *verifier, const unsigned char *wanted,
                        struct verified *verified)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    bool equal;

    if (!EVP_DigestFinal_ex(verifier->context, sum, &size)) {
        conclude_error(verified, ENOMEM);
        return;
    }
    equal = size == CHECKSUM_SIZE && memcmp(sum, wanted, CHECKSUM_SIZE) == 0;
    conclude(verified, equal ? INTEGRITY_OK : INTEGRITY_CHANGED, 0);
}

static void check_open_file(struct verifier *verifier, int descriptor, const unsigned char *wanted,
                            struct verified *verified)
{
    struct stat about;
    int error;

    if (fstat(descriptor, &about) < 0) {
        conclude_error(verified, errno);
        return;
    }
    if (!S_ISREG(about.st_mode)) {
        conclude(verified, INTEGRITY_UNREADABLE, S_ISDIR(about.st_mode) ? EISDIR : 0);
        return;
    }
    if (about.st_size > (off_t)BUFFER_SIZE)
        (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
    error = sum_content(verifier, descriptor, (uint64_t)about.st_size, &verified->bytes);
    if (error)
        conclude_error(verified, error);
    else
        compare_sum(verifier, wanted, verified);
}

void verifier_check(struct verifier *verifier, const struct checksum_line *wanted,
                    struct verified *out_verified)
{
    int descriptor = openat(verifier->root, wanted->path,
                            O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    *out_verified = (struct verified){ 0 };
    if (descriptor < 0) {
        conclude_error(out_verified, errno);
        return;
    }
    check_open_file(verifier, descriptor, wanted->sum, out_verified);
    (void)close(descriptor);
}
