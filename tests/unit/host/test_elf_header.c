/* SPDX-License-Identifier: MIT */
/*
 * Goal: a file that is no shared object for this machine is refused with what was found and what
 * was expected.
 * Method: the first bytes of this program, changed one field at a time.
 */
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "host/plugin/elf_header.h"
#include "suite.h"

#define TYPE_AT 16
#define MACHINE_AT 18

static void read_own_header(unsigned char *bytes)
{
    FILE *self = fopen("/proc/self/exe", "rb");

    CU_ASSERT_PTR_NOT_NULL_FATAL(self);
    CU_ASSERT_EQUAL_FATAL(fread(bytes, 1, ELF_HEADER_SIZE, self), ELF_HEADER_SIZE);
    fclose(self);
    /* A program may be linked to a fixed address; a plugin never is. */
    bytes[TYPE_AT] = bytes[EI_DATA] == ELFDATA2MSB ? 0 : ET_DYN;
    bytes[TYPE_AT + 1] = bytes[EI_DATA] == ELFDATA2MSB ? ET_DYN : 0;
}

static const char *refusal(const unsigned char *bytes, size_t size)
{
    static struct problem problem;
    int status;

    problem.text[0] = '\0';
    status = elf_header_check(bytes, size, "p.so", &problem);
    CU_ASSERT_EQUAL(status == WEIR_OK, problem.text[0] == '\0');
    return problem.text;
}

static void test_own_machine_is_accepted(void)
{
    unsigned char bytes[ELF_HEADER_SIZE];

    read_own_header(bytes);
    CU_ASSERT_STRING_EQUAL(refusal(bytes, sizeof bytes), "");
}

static void test_text_is_refused(void)
{
    static const unsigned char text[] = "#!/bin/sh\necho this is no plugin, though it is long";

    CU_ASSERT_STRING_EQUAL(refusal(text, sizeof text),
                           "p.so: is no shared object (it does not begin as an ELF file)");
    CU_ASSERT_STRING_EQUAL(refusal(text, 2),
                           "p.so: is no shared object (it does not begin as an ELF file)");
    CU_ASSERT_STRING_EQUAL(refusal(text, 0), "p.so: is empty");
}

static void test_cut_header_is_refused(void)
{
    unsigned char bytes[ELF_HEADER_SIZE];

    read_own_header(bytes);
    CU_ASSERT_STRING_EQUAL(refusal(bytes, 20), "p.so: is cut off within its ELF header (20 bytes)");
}

static void test_other_machine_is_named(void)
{
    unsigned char bytes[ELF_HEADER_SIZE];
    bool big;

    read_own_header(bytes);
    big = bytes[EI_DATA] == ELFDATA2MSB;
    bytes[MACHINE_AT + (big ? 1 : 0)] = EM_S390;
    bytes[MACHINE_AT + (big ? 0 : 1)] = 0;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(bytes, sizeof bytes), "p.so: is built for S/390, this"));
    bytes[MACHINE_AT] = 0x77;
    bytes[MACHINE_AT + 1] = 0x77;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(bytes, sizeof bytes), "is built for machine 30583"));
}

static void test_other_class_is_named(void)
{
    unsigned char bytes[ELF_HEADER_SIZE];

    read_own_header(bytes);
    bytes[EI_CLASS] = bytes[EI_CLASS] == ELFCLASS64 ? ELFCLASS32 : ELFCLASS64;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(bytes, sizeof bytes), "-bit object, this host is "));
    bytes[EI_CLASS] = 9;
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal(bytes, sizeof bytes), "is a broken object"));
}

static void test_object_that_is_not_shared_is_refused(void)
{
    unsigned char bytes[ELF_HEADER_SIZE];

    read_own_header(bytes);
    bytes[TYPE_AT] = ET_REL;
    bytes[TYPE_AT + 1] = ET_REL;
    CU_ASSERT_STRING_EQUAL(refusal(bytes, sizeof bytes),
                           "p.so: is an ELF file, but no shared object; link it with -shared");
}

/* The sentence about this very program, were its file of `file_size` bytes. */
static const char *refusal_of_size(uint64_t file_size)
{
    static unsigned char bytes[64 * 1024];
    static struct problem problem;
    FILE *self = fopen("/proc/self/exe", "rb");
    size_t size;

    CU_ASSERT_PTR_NOT_NULL_FATAL(self);
    size = fread(bytes, 1, sizeof bytes, self);
    fclose(self);
    problem.text[0] = '\0';
    CU_ASSERT_EQUAL(elf_header_check_whole(bytes, size, file_size, "p.so", &problem) == WEIR_OK,
                    problem.text[0] == '\0');
    return problem.text;
}

static void test_file_that_is_not_whole_is_refused(void)
{
    struct stat status;

    CU_ASSERT_EQUAL_FATAL(stat("/proc/self/exe", &status), 0);
    CU_ASSERT_STRING_EQUAL(refusal_of_size((uint64_t)status.st_size), "");
    CU_ASSERT_PTR_NOT_NULL(
        strstr(refusal_of_size((uint64_t)status.st_size - 1), "p.so: is not whole: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(refusal_of_size(ELF_HEADER_SIZE), "the 64 bytes that are there"));
}

/* Numbers that wrap would let a broken header through. */
static void test_header_whose_parts_have_no_end_is_refused(void)
{
    static const size_t places[] = { offsetof(ElfW(Ehdr), e_phoff), offsetof(ElfW(Ehdr), e_shoff) };

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        unsigned char bytes[ELF_HEADER_SIZE];
        struct problem problem;

        read_own_header(bytes);
        memset(bytes + places[i], 0xff, sizeof(ElfW(Off)));
        CU_ASSERT_EQUAL(elf_header_check_whole(bytes, sizeof bytes, 1u << 30, "p.so", &problem),
                        WEIR_EUNSUPPORTED);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "own machine is accepted", test_own_machine_is_accepted },
        { "text is refused", test_text_is_refused },
        { "cut header is refused", test_cut_header_is_refused },
        { "other machine is named", test_other_machine_is_named },
        { "other class is named", test_other_class_is_named },
        { "object that is not shared", test_object_that_is_not_shared_is_refused },
        { "file that is not whole", test_file_that_is_not_whole_is_refused },
        { "parts without end", test_header_whose_parts_have_no_end_is_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("elf_header", tests);
}
