/* SPDX-License-Identifier: MIT */
#include "kit_log.h"

#include <inttypes.h>
#include <string.h>

static const char *level_name(enum weir_log_level level)
{
    static const char *const names[] = { "error", "warning", "info", "debug" };

    return (unsigned)level < 4u ? names[level] : "?";
}

static void add_field(struct kit_text *text, const struct weir_field *field)
{
    switch (field->kind) {
    case WEIR_STRING:
        kit_text_format(text, " %s=%s", field->key, field->value.string ? field->value.string : "");
        break;
    case WEIR_I64:
        kit_text_format(text, " %s=%" PRId64, field->key, field->value.integer);
        break;
    case WEIR_U64:
        kit_text_format(text, " %s=%" PRIu64, field->key, field->value.natural);
        break;
    default:
        kit_text_format(text, " %s=%g", field->key, field->value.real);
        break;
    }
}

void kit_log_line(struct weir_self *self, enum weir_log_level level, const char *event,
                  const struct weir_field *fields)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_text *text = &kit->logged;

    kit_text_format(text, "%s %s", level_name(level), event);
    for (; fields->key; fields++)
        add_field(text, fields);
    kit_text_add(text, "\n", 1);
    kit->log_count++;
}

const char *weir_kit_logged(const struct weir_kit *kit)
{
    return kit_text_get(&kit->logged);
}

static bool begins_with(const char *line, const char *word)
{
    size_t length = strlen(word);

    return strncmp(line, word, length) == 0 && line[length] == ' ';
}

bool weir_kit_has_logged(const struct weir_kit *kit, enum weir_log_level level, const char *part)
{
    const char *line = weir_kit_logged(kit);

    for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        if (begins_with(line, level_name(level)) &&
            memmem(line, (size_t)(end - line), part, strlen(part)))
            return true;
    }
    return false;
}

size_t weir_kit_log_count(const struct weir_kit *kit)
{
    return kit->log_count;
}
