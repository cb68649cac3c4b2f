/* SPDX-License-Identifier: MIT */
/*
 * Goal: an item of a vault is zeroed, aligned and found there, and a write past the end of other
 * memory faults instead of overwriting it.
 *
 * Method: many items, so that there are several chunks; pointers from elsewhere; a child that
 * writes from an item past the end of its pages.
 */
#include "message/vault.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/host/suite.h"

#define ITEMS 1000
#define ITEM_SIZE 333 /* they fill several chunks, and none ends where another begins */

static const struct vault_chunk *first_of(struct vault *vault)
{
    return atomic_load(&vault->first);
}

static void test_items_are_held_and_others_are_not(void)
{
    static char zeros[ITEM_SIZE];
    struct vault vault = { 0 };
    char *items[ITEMS];
    char elsewhere[ITEM_SIZE] = "";

    CU_ASSERT_FALSE(vault_holds(first_of(&vault), elsewhere, 1));
    for (int i = 0; i < ITEMS; i++) {
        items[i] = vault_take(&vault, ITEM_SIZE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(items[i]);
        CU_ASSERT_EQUAL((uintptr_t)items[i] % _Alignof(max_align_t), 0);
        CU_ASSERT_EQUAL(memcmp(items[i], zeros, ITEM_SIZE), 0);
        memset(items[i], 'a', ITEM_SIZE - 1);
    }
    for (int i = 0; i < ITEMS; i++) {
        CU_ASSERT_TRUE(vault_holds(first_of(&vault), items[i], ITEM_SIZE));
        CU_ASSERT_EQUAL(strlen(items[i]), ITEM_SIZE - 1);
        CU_ASSERT_PTR_EQUAL(vault_text(first_of(&vault), items[i]), items[i]);
    }
    CU_ASSERT_PTR_NULL(vault_text(first_of(&vault), elsewhere));
    CU_ASSERT_PTR_NULL(vault_text(first_of(&vault), NULL));
    CU_ASSERT_PTR_NULL(vault_take(&vault, VAULT_ITEM_MAX + 1));
    CU_ASSERT_PTR_NOT_NULL(vault_take(&vault, VAULT_ITEM_MAX));
    vault_finish(&vault);
    CU_ASSERT_FALSE(vault_holds(first_of(&vault), items[0], 1));
}

/* In a child: the byte at `item` is far from the end of its pages in neither direction. */
static void run_over(char *item, ptrdiff_t step)
{
    struct rlimit no_core = { 0, 0 };

    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGSEGV, SIG_DFL);
    for (ptrdiff_t i = 0; i < (ptrdiff_t)1024 * 1024; i++)
        item[i * step] = 'x';
    _exit(0);
}

static int signal_of_running_over(char *item, ptrdiff_t step)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        run_over(item, step);
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_running_over_faults(void)
{
    char *item = vault_map(100);

    CU_ASSERT_PTR_NOT_NULL_FATAL(item);
    CU_ASSERT_EQUAL(signal_of_running_over(item, 1), SIGSEGV);
    CU_ASSERT_EQUAL(signal_of_running_over(item, -1), SIGSEGV);
    vault_unmap(item, 100);
    vault_unmap(NULL, 100);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "items are held and others are not", test_items_are_held_and_others_are_not },
        { "running over faults", test_running_over_faults },
        CU_TEST_INFO_NULL,
    };

    return suite_run("vault", tests);
}
