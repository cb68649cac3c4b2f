/* SPDX-License-Identifier: MIT */
#include "host/plugin/elf_header.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"

#define MACHINE_TEXT_SIZE 32

/* Offsets of the fields that stand at the same place in the 32-bit and the 64-bit form. */
#define TYPE_AT 16
#define MACHINE_AT 18

struct machine {
    uint16_t number;
    const char *name;
};

static const struct machine machines[] = {
    { EM_386, "x86 (32-bit)" }, { EM_X86_64, "x86-64" },       { EM_ARM, "ARM (32-bit)" },
    { EM_AARCH64, "AArch64" },  { EM_RISCV, "RISC-V" },        { EM_PPC64, "POWER (64-bit)" },
    { EM_S390, "S/390" },       { EM_LOONGARCH, "LoongArch" }, { EM_MIPS, "MIPS" },
};

/* The machine that this program was built for; EM_NONE = unknown, then every machine is
 * accepted. */
static uint16_t own_machine(void)
{
#if defined(__x86_64__)
    return EM_X86_64;
#elif defined(__aarch64__)
    return EM_AARCH64;
#elif defined(__i386__)
    return EM_386;
#elif defined(__arm__)
    return EM_ARM;
#elif defined(__riscv)
    return EM_RISCV;
#elif defined(__powerpc64__)
    return EM_PPC64;
#elif defined(__s390x__)
    return EM_S390;
#elif defined(__loongarch__)
    return EM_LOONGARCH;
#elif defined(__mips__)
    return EM_MIPS;
#else
    return EM_NONE;
#endif
}

static void name_machine(char *out, uint16_t number)
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        if (machines[i].number == number) {
            (void)snprintf(out, MACHINE_TEXT_SIZE, "%s", machines[i].name);
            return;
        }
    }
    (void)snprintf(out, MACHINE_TEXT_SIZE, "machine %u", (unsigned)number);
}

static bool is_big_endian_host(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

static uint16_t read_half(const unsigned char *bytes, size_t at)
{
    unsigned first = bytes[at], second = bytes[at + 1];
    bool big = bytes[EI_DATA] == ELFDATA2MSB;

    return (uint16_t)(big ? first << 8 | second : second << 8 | first);
}

static int check_class(const unsigned char *bytes, const char *file, struct problem *problem)
{
    unsigned wanted = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;

    if (bytes[EI_CLASS] == wanted)
        return WEIR_OK;
    return problem_set(problem, WEIR_EUNSUPPORTED, "%s: is a %s object, this host is %s", file,
                       bytes[EI_CLASS] == ELFCLASS64   ? "64-bit"
                       : bytes[EI_CLASS] == ELFCLASS32 ? "32-bit"
                                                       : "broken",
                       wanted == ELFCLASS64 ? "64-bit" : "32-bit");
}

static int check_machine(const unsigned char *bytes, const char *file, struct problem *problem)
{
    char wanted[MACHINE_TEXT_SIZE], found[MACHINE_TEXT_SIZE];
    uint16_t machine = read_half(bytes, MACHINE_AT);
    unsigned order = is_big_endian_host() ? ELFDATA2MSB : ELFDATA2LSB;

    if ((machine == own_machine() || own_machine() == EM_NONE) && bytes[EI_DATA] == order)
        return WEIR_OK;
    name_machine(wanted, own_machine());
    name_machine(found, machine);
    return problem_set(problem, WEIR_EUNSUPPORTED, "%s: is built for %s%s, this host is %s", file,
                       found, bytes[EI_DATA] == order ? "" : " of the other byte order", wanted);
}

static int check_type(const unsigned char *bytes, const char *file, struct problem *problem)
{
    if (read_half(bytes, TYPE_AT) == ET_DYN)
        return WEIR_OK;
    return problem_set(problem, WEIR_EUNSUPPORTED,
                       "%s: is an ELF file, but no shared object; link it with -shared", file);
}

int elf_header_check(const unsigned char *bytes, size_t size, const char *file,
                     struct problem *problem)
{
    int status;

    if (size == 0)
        return problem_set(problem, WEIR_EUNSUPPORTED, "%s: is empty", file);
    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return problem_set(problem, WEIR_EUNSUPPORTED,
                           "%s: is no shared object (it does not begin as an ELF file)", file);
    if (size < ELF_HEADER_SIZE)
        return problem_set(problem, WEIR_EUNSUPPORTED,
                           "%s: is cut off within its ELF header (%zu %s)", file, size,
                           plural(size, "byte", "bytes"));
    status = check_class(bytes, file, problem);
    if (status == WEIR_OK)
        status = check_machine(bytes, file, problem);
    if (status == WEIR_OK)
        status = check_type(bytes, file, problem);
    return status;
}

/* The end of a part; the largest number when the sum overflows. */
static uint64_t end_of(uint64_t offset, uint64_t size)
{
    return offset <= UINT64_MAX - size ? offset + size : UINT64_MAX;
}

/* The end of the last segment that the given bytes describe. */
static uint64_t end_of_segments(const ElfW(Ehdr) * header, const unsigned char *bytes, size_t size)
{
    uint64_t end = end_of(header->e_phoff, (uint64_t)header->e_phnum * header->e_phentsize);

    if (header->e_phentsize != sizeof(ElfW(Phdr)) || end > size)
        return end;
    for (size_t i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) segment;
        uint64_t segment_end;

        memcpy(&segment, bytes + header->e_phoff + i * sizeof segment, sizeof segment);
        segment_end = end_of(segment.p_offset, segment.p_filesz);
        if (segment.p_type == PT_LOAD && segment_end > end)
            end = segment_end;
    }
    return end;
}

int elf_header_check_whole(const unsigned char *bytes, size_t size, uint64_t file_size,
                           const char *file, struct problem *problem)
{
    ElfW(Ehdr) header;
    uint64_t wanted, sections;

    memcpy(&header, bytes, sizeof header);
    wanted = end_of_segments(&header, bytes, size);
    sections = end_of(header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize);
    if (sections > wanted)
        wanted = sections;
    if (wanted <= file_size)
        return WEIR_OK;
    return problem_set(
        problem, WEIR_EUNSUPPORTED,
        "%s: is not whole: by its ELF header it has more than the %ju bytes that are "
        "there; was it still being written? install a plugin under another name, "
        "then rename it",
        file, (uintmax_t)file_size);
}
