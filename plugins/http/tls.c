#include "tls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SIZE_MAX ((size_t)1024 * 1024) /* a chain of certificates has some kB */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = file ? calloc(1, FILE_SIZE_MAX + 1) : NULL;

    if (text && fread(text, 1, FILE_SIZE_MAX, file) == 0) {
        errno = ferror(file) ? errno : ENODATA;
        free(text);
        text = NULL;
    }
    if (file)
        (void)fclose(file);
    return text;
}

static bool read_one(struct weir_self *self, const char *path, char **out)
{
    char text[128];

    *out = read_text(path);
    if (!*out)
        weir_reason(self, "%s: %s", path, strerror_r(errno, text, sizeof text));
    return *out != NULL;
}

bool tls_read(struct weir_self *self, const struct server_settings *settings, struct tls *out)
{
    if (read_one(self, settings->certificate, &out->certificate) &&
        read_one(self, settings->key, &out->key))
        return true;
    tls_clear(out);
    return false;
}

static void clear(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void tls_clear(struct tls *tls)
{
    clear(tls->certificate);
    clear(tls->key);
    *tls = (struct tls){ 0 };
}
