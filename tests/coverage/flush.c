/* SPDX-License-Identifier: MIT */
/* Linked to each program of preset `coverage`: a program that ends by _exit writes its counts, too.
 */
#include <gcov.h>

void __real__exit(int code) __attribute__((noreturn));
void __wrap__exit(int code) __attribute__((noreturn));

void __wrap__exit(int code)
{
    __gcov_dump();
    __real__exit(code);
}
