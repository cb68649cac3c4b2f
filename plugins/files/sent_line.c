/* SPDX-License-Identifier: MIT */
#include "sent_line.h"

#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "followed.h"

struct sent_line *sent_line_create(const struct followed *file, const struct reader_line *line)
{
    size_t name_size = strlen(file->path) + 1;
    struct sent_line *copy = calloc(1, sizeof *copy + name_size + line->size);

    if (!copy)
        return NULL;
    copy->offset = line->offset;
    copy->number = line->number;
    copy->attempt = 1;
    copy->name_size = name_size;
    copy->size = line->size;
    memcpy(copy->text, file->path, name_size);
    if (line->size > 0)
        memcpy(copy->text + name_size, line->text, line->size);
    return copy;
}

struct weir_message *sent_line_message(struct weir_self *self, const struct sent_line *line,
                                       const struct weir_tag *tag)
{
    size_t size = sizeof(struct files_line) + line->name_size + line->size + 1;
    char label[WEIR_LABEL_SIZE];
    struct weir_message *message = weir_message_new_labelled(
        self, tag, size, weir_label_of_line(label, line->text, line->number));
    struct files_line *head;

    if (!message)
        return NULL;
    message->key = weir_key(line->text, line->name_size - 1);
    message->attempt = line->attempt;
    head = message->data;
    head->name_size = (uint32_t)(line->name_size - 1);
    head->line_size = (uint32_t)line->size;
    head->number = line->number;
    head->offset = line->offset;
    memcpy(head + 1, line->text, line->name_size + line->size);
    (void)weir_set_identity(self, message, message->data, message->size);
    return message;
}
