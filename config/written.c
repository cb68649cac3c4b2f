/* SPDX-License-Identifier: MIT */
#include "config/written.h"

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 512   /* of a key's path in a message; a longer one is truncated */
#define REASON_SIZE 768 /* the length that a report keeps */

static int keep_mark(struct text_store *store, struct written_file *file, const struct mark *mark,
                     struct mark *out)
{
    *out = *mark;
    if (!mark->file)
        return WEIR_OK;
    if (file->in_tree != mark->file) {
        file->kept = text_store_copy(store, mark->file);
        file->in_tree = mark->file;
    }
    out->file = file->kept;
    return out->file ? WEIR_OK : WEIR_ENOMEM;
}

static int keep_keys(struct text_store *store, struct written_file *file,
                     const struct config_node *map, struct written *out)
{
    struct written_key *keys = text_store_take_array(store, map->count, sizeof *keys);

    if (!keys)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < map->count; i++) {
        keys[i].name = text_store_copy(store, map->pairs[i].key->text);
        if (!keys[i].name || keep_mark(store, file, &map->pairs[i].value->mark, &keys[i].mark) != 0)
            return WEIR_ENOMEM;
    }
    out->keys = keys;
    out->key_count = map->count;
    return WEIR_OK;
}

int written_note(struct text_store *store, struct written_file *file, const char *path,
                 const struct mark *mark, const struct config_node *map, struct written *out)
{
    *out = (struct written){ .path = text_store_copy(store, path) };
    if (!out->path || keep_mark(store, file, mark, &out->mark) != WEIR_OK)
        return WEIR_ENOMEM;
    return map && map->kind == CONFIG_MAP ? keep_keys(store, file, map, out) : WEIR_OK;
}

const struct mark *written_mark(const struct written *written, const char *field)
{
    size_t length = field ? strcspn(field, ".") : 0;

    for (uint32_t i = 0; length && i < written->key_count; i++) {
        const struct written_key *key = &written->keys[i];

        if (strncmp(key->name, field, length) == 0 && key->name[length] == '\0')
            return &key->mark;
    }
    return &written->mark;
}

void written_report(const struct written *written, const char *field, struct report *report,
                    const char *format, ...)
{
    char path[PATH_SIZE];
    char reason[REASON_SIZE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    (void)snprintf(path, sizeof path, "%s%s%s", written->path, field ? "." : "",
                   field ? field : "");
    report_add(report, written_mark(written, field), path, "%s", reason);
}
