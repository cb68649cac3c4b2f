/* SPDX-License-Identifier: MIT */
#include "host/plugin/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock.h"

struct function {
    size_t offset; /* from the base */
    size_t size;
    size_t name; /* its place in `names` */
};

/* The functions of one object. */
struct object {
    struct object *next;
    const void *base;
    char *file;                 /* owned; without folders */
    struct function *functions; /* owned; in any order */
    size_t count;
    char *names; /* owned; ends with NUL */
};

struct symbols {
    struct lock lock;
    struct object *objects; /* lock */
};

struct symbols *symbols_create(void)
{
    struct symbols *symbols = calloc(1, sizeof *symbols);

    if (symbols)
        lock_init(&symbols->lock, LOCK_SYMBOLS);
    return symbols;
}

static void object_destroy(struct object *object)
{
    if (!object)
        return;
    free(object->file);
    free(object->functions);
    free(object->names);
    free(object);
}

void symbols_destroy(struct symbols *symbols)
{
    if (!symbols)
        return;
    for (struct object *object = symbols->objects, *next; object; object = next) {
        next = object->next;
        object_destroy(object);
    }
    lock_finish(&symbols->lock);
    free(symbols);
}

/* --- reading ---------------------------------------------------------------------------------- */

struct file {
    const char *bytes;
    size_t size;
};

/* `count` items of `size` bytes at `offset`, a multiple of `alignment`; NULL: they are not in the
 * file. */
static const void *part(const struct file *file, size_t offset, size_t alignment, size_t size,
                        size_t count)
{
    return offset % alignment == 0 && offset <= file->size && count <= (file->size - offset) / size
               ? file->bytes + offset
               : NULL;
}

/* The section with all symbols; NULL: there is none. */
static const ElfW(Shdr) * find_table(const struct file *file, const ElfW(Shdr) * *out_strings)
{
    const ElfW(Ehdr) *header = part(file, 0, 1, sizeof *header, 1);
    const ElfW(Shdr) * sections;

    if (!header || header->e_shentsize != sizeof *sections)
        return NULL;
    sections = part(file, header->e_shoff, _Alignof(ElfW(Shdr)), sizeof *sections, header->e_shnum);
    for (size_t i = 0; sections && i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum)
            continue;
        *out_strings = &sections[sections[i].sh_link];
        return &sections[i];
    }
    return NULL;
}

static void add_functions(struct object *object, const ElfW(Sym) * symbols, size_t count,
                          size_t names_size)
{
    for (size_t i = 0; i < count; i++) {
        if ((symbols[i].st_info & 0xf) != STT_FUNC || symbols[i].st_shndx == SHN_UNDEF ||
            symbols[i].st_name >= names_size)
            continue;
        object->functions[object->count++] = (struct function){
            .offset = symbols[i].st_value,
            .size = symbols[i].st_size,
            .name = symbols[i].st_name,
        };
    }
}

/* Leaves the object as it is when the file has none, or memory is out. */
static void read_functions(const struct file *file, struct object *object)
{
    const ElfW(Shdr) * strings, *table = find_table(file, &strings);
    size_t count = table ? table->sh_size / sizeof(ElfW(Sym)) : 0;
    const ElfW(Sym) *symbols = table ? part(file, table->sh_offset, _Alignof(ElfW(Sym)),
                                            sizeof *symbols, count)
                                     : NULL;
    const char *names = table ? part(file, strings->sh_offset, 1, 1, strings->sh_size) : NULL;

    if (!symbols || !names)
        return;
    object->functions = calloc(count, sizeof *object->functions);
    object->names = calloc(1, strings->sh_size + 1);
    if (!object->functions || !object->names)
        return;
    memcpy(object->names, names, strings->sh_size);
    add_functions(object, symbols, count, strings->sh_size);
}

static void read_path(const char *path, struct object *object)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *bytes;

    if (descriptor < 0)
        return;
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (bytes != MAP_FAILED) {
            read_functions(&(struct file){ bytes, (size_t)status.st_size }, object);
            (void)munmap(bytes, (size_t)status.st_size);
        }
    }
    (void)close(descriptor);
}

static struct object *object_create(const char *path, const char *file, const void *base)
{
    struct object *object = calloc(1, sizeof *object);
    const char *slash = strrchr(file, '/');

    if (!object)
        return NULL;
    object->base = base;
    object->file = strdup(slash ? slash + 1 : file);
    if (!object->file) {
        object_destroy(object);
        return NULL;
    }
    read_path(path, object);
    return object;
}

/* --- the book --------------------------------------------------------------------------------- */

void symbols_add(struct symbols *symbols, const char *path, const char *file, const void *base)
{
    struct object *object = symbols && base ? object_create(path, file, base) : NULL;

    if (!object)
        return;
    lock_acquire(&symbols->lock);
    object->next = symbols->objects;
    symbols->objects = object;
    lock_release(&symbols->lock);
}

void symbols_forget(struct symbols *symbols, const void *base)
{
    struct object **link, *object;

    if (!symbols)
        return;
    lock_acquire(&symbols->lock);
    link = &symbols->objects;
    while (*link && (*link)->base != base)
        link = &(*link)->next;
    object = *link;
    if (object)
        *link = object->next;
    lock_release(&symbols->lock);
    object_destroy(object);
}

static const struct function *find_function(const struct object *object, size_t offset)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct function *function = &object->functions[i];

        if (offset >= function->offset && offset - function->offset < function->size)
            return function;
    }
    return NULL;
}

bool symbols_find(struct symbols *symbols, const void *base, const void *address, char *out,
                  size_t size)
{
    size_t offset = (size_t)((const char *)address - (const char *)base);
    const struct function *function;
    const struct object *object;

    if (!symbols)
        return false;
    lock_acquire(&symbols->lock);
    object = symbols->objects;
    while (object && object->base != base)
        object = object->next;
    function = object ? find_function(object, offset) : NULL;
    if (function)
        (void)snprintf(out, size, "%s (%s+0x%zx)", object->names + function->name, object->file,
                       offset);
    else if (object)
        (void)snprintf(out, size, "%s+0x%zx", object->file, offset);
    lock_release(&symbols->lock);
    return object;
}
