/* SPDX-License-Identifier: MIT */
/*
 * http1_rows.c - prints http1_table.c, for a test in another language: a line for each row, with
 * the section, then the outcome and the request in hexadecimal digits.
 */
#include <stdio.h>
#include <string.h>

#include "unit/wire/http1_table.h"

static void print_bytes(const char *bytes, size_t size)
{
    (void)putchar('\t');
    for (size_t i = 0; i < size; i++)
        (void)printf("%02x", (unsigned)(unsigned char)bytes[i]);
}

int main(void)
{
    for (size_t i = 0; i < http1_table_count; i++) {
        const struct http1_row *row = &http1_table[i];

        (void)printf("%s", row->section);
        print_bytes(row->outcome, strlen(row->outcome));
        print_bytes(row->request, row->size);
        (void)putchar('\n');
    }
    return 0;
}
