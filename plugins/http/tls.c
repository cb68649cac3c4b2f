/* SPDX-License-Identifier: MIT */
#include "tls.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define DAY_SECONDS 86400

/* --- the certificate -------------------------------------------------------------------------- */

/* The words of the last error of the library. */
static const char *last_words(void)
{
    const char *words = ERR_reason_error_string(ERR_peek_last_error());

    return words ? words : "cannot be used";
}

/* `option: words`: a reason in the log has few bytes, and a path many. */
static bool refuse(struct tls_reason *reason, const char *option, const char *words)
{
    (void)snprintf(reason->text, sizeof reason->text, "%s: %s", option, words);
    ERR_clear_error();
    return false;
}

/* A read of anything else, such as a FIFO, could wait for ever. */
static const char *fault_of_file(const char *path)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return strerrordesc_np(errno);
    return S_ISREG(about.st_mode) ? NULL : "is no regular file";
}

/* Instead of the library's own, which asks on the terminal, or reads the input of the host. */
static int have_no_phrase(char *phrase, int size, int writes, void *asked)
{
    if (size > 0)
        phrase[0] = '\0';
    (void)writes;
    *(bool *)asked = true;
    return -1;
}

static bool use_certificate(SSL_CTX *context, const char *path)
{
    return SSL_CTX_use_certificate_chain_file(context, path) == 1;
}

static bool use_key(SSL_CTX *context, const char *path)
{
    return SSL_CTX_use_PrivateKey_file(context, path, SSL_FILETYPE_PEM) == 1 &&
           SSL_CTX_check_private_key(context) == 1;
}

static bool load(SSL_CTX *context, const struct server_settings *settings,
                 struct tls_reason *reason)
{
    const struct {
        const char *option, *path;
        bool (*use)(SSL_CTX *context, const char *path);
    } files[] = { { "certificate", settings->certificate, use_certificate },
                  { "key", settings->key, use_key } };
    bool asked = false;

    SSL_CTX_set_default_passwd_cb(context, have_no_phrase);
    SSL_CTX_set_default_passwd_cb_userdata(context, &asked);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const char *fault = fault_of_file(files[i].path);

        if (!fault && !files[i].use(context, files[i].path))
            fault = asked ? "has a pass phrase" : last_words();
        if (fault)
            return refuse(reason, files[i].option, fault);
    }
    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    return true;
}

SSL_CTX *tls_create(const struct server_settings *settings, struct tls_reason *reason)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    ERR_clear_error();
    if (!context || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
        (void)refuse(reason, "TLS", last_words());
        SSL_CTX_free(context);
        return NULL;
    }
    (void)SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    if (!load(context, settings, reason)) {
        SSL_CTX_free(context);
        return NULL;
    }
    return context;
}

bool tls_is_same(const SSL_CTX *context, const SSL_CTX *other)
{
    return X509_cmp(SSL_CTX_get0_certificate(context), SSL_CTX_get0_certificate(other)) == 0;
}

static int64_t seconds_to(const ASN1_TIME *end)
{
    int days, seconds;

    return ASN1_TIME_diff(&days, &seconds, NULL, end) == 1 ? (int64_t)days * DAY_SECONDS + seconds
                                                           : 0;
}

int64_t tls_seconds_until_valid(const SSL_CTX *context)
{
    return seconds_to(X509_get0_notBefore(SSL_CTX_get0_certificate(context)));
}

int64_t tls_seconds_left(SSL_CTX *context)
{
    int64_t left = seconds_to(X509_get0_notAfter(SSL_CTX_get0_certificate(context)));
    STACK_OF(X509) *chain = NULL;

    (void)SSL_CTX_get0_chain_certs(context, &chain);
    for (int i = 0; i < sk_X509_num(chain); i++) {
        int64_t of_one = seconds_to(X509_get0_notAfter(sk_X509_value(chain, i)));

        left = of_one < left ? of_one : left;
    }
    return left;
}

void tls_destroy(SSL_CTX *context)
{
    SSL_CTX_free(context);
}

/* --- sessions --------------------------------------------------------------------------------- */

SSL *tls_begin(SSL_CTX *context, int descriptor)
{
    SSL *session = SSL_new(context);

    if (session && SSL_set_fd(session, descriptor) == 1) {
        SSL_set_accept_state(session);
        return session;
    }
    SSL_free(session);
    return NULL;
}

void tls_end(SSL *session)
{
    if (session && SSL_is_init_finished(session))
        (void)SSL_shutdown(session);
    ERR_clear_error();
    SSL_free(session);
}

/* -1 with errno for the result of a call that moved no bytes; 0: the end. */
static ssize_t fail(SSL *session, int result, bool *out_wants_write)
{
    int error = SSL_get_error(session, result);

    ERR_clear_error();
    *out_wants_write = error == SSL_ERROR_WANT_WRITE;
    if (error == SSL_ERROR_ZERO_RETURN)
        return 0;
    errno = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? EAGAIN : ECONNRESET;
    return -1;
}

static int bounded(size_t size)
{
    return size < INT_MAX ? (int)size : INT_MAX;
}

ssize_t tls_read(SSL *session, void *bytes, size_t size, bool *out_wants_write)
{
    int got;

    ERR_clear_error(); /* other users of the library run on this thread */
    got = SSL_read(session, bytes, bounded(size));
    *out_wants_write = false;
    return got > 0 ? got : fail(session, got, out_wants_write);
}

ssize_t tls_write(SSL *session, const void *bytes, size_t size)
{
    bool wants_write;
    ssize_t result;
    int put;

    ERR_clear_error();
    put = SSL_write(session, bytes, bounded(size));
    result = put > 0 ? put : fail(session, put, &wants_write);
    if (result != 0)
        return result;
    errno = EPIPE;
    return -1;
}
