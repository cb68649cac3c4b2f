/* SPDX-License-Identifier: MIT */
/*
 * replay.c - tries each file of a folder as an input of a fuzz target.
 *
 *     replay FOLDER
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

#define INPUT_MAX 65536u

static void try_file(const char *path)
{
    static uint8_t bytes[INPUT_MAX];
    FILE *file = fopen(path, "re");
    size_t size;

    if (!file) {
        perror(path);
        exit(1);
    }
    size = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    (void)LLVMFuzzerTestOneInput(bytes, size);
}

int main(int count, char **words)
{
    DIR *folder = count == 2 ? opendir(words[1]) : NULL;
    const struct dirent *entry;
    unsigned tried = 0;
    char path[4096];

    if (!folder) {
        (void)fprintf(stderr, "replay FOLDER\n");
        return 1;
    }
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", words[1], entry->d_name);
        try_file(path);
        tried++;
    }
    (void)closedir(folder);
    (void)printf("%u inputs\n", tried);
    return tried == 0;
}
