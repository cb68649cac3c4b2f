/* SPDX-License-Identifier: MIT */
/*
 * verify.h - reads one file below a root and compares its MD5 sum with the expected one.
 *
 * Life: verifier_init .. verifier_finish. Not synchronised: one per worker. It allocates everything
 * before the first file.
 */
#ifndef VERIFY_H
#define VERIFY_H

#include <openssl/evp.h>

#include "checksum_line.h"
#include "integrity.h"

struct verifier {
    int root;              /* owned; the directory that paths are relative to; -1 = none */
    EVP_MD *md5;           /* owned */
    EVP_MD_CTX *context;   /* owned */
    unsigned char *buffer; /* owned */
};

struct verified {
    enum integrity_verdict verdict;
    int error;      /* errno of missing and unreadable; 0: it is not a regular file */
    uint64_t bytes; /* read and summed */
};

/*
 * 0; negative, with a static phrase in out_why: WEIR_EINVALID the root cannot be opened (see
 * errno), WEIR_EUNSUPPORTED libcrypto has no MD5, WEIR_ENOMEM. Then verifier_finish is not needed.
 */
int verifier_init(struct verifier *verifier, const char *root, const char **out_why);
/* Legal twice. */
void verifier_finish(struct verifier *verifier);

/*
 * Checks the file. Follows symbolic links, as `md5sum` does; never waits for a FIFO or a device.
 * May block on the disk.
 */
void verifier_check(struct verifier *verifier, const struct checksum_line *wanted,
                    struct verified *out_verified);

#endif
