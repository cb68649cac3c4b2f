/* SPDX-License-Identifier: MIT */
/*
 * Goal: a slot is used again with another serial, so no PID comes twice, and a slot whose serials
 * are used up is not used again. The address of a slot never changes.
 *
 * Method: slots taken and given by one thread, over more than one chunk; a serial set to its last.
 */
#include "actor/slots.h"

#include "unit/host/suite.h"

#define COUNT (SLOTS_CHUNK * 2 + 5)

/* promise A3 */
static void test_slot_used_again_has_the_next_serial(void)
{
    struct slots slots;
    struct stock stock = { .full.count = 0 };
    struct actor *first;
    struct actor *second;
    uint32_t serial;
    uint32_t next;

    CU_ASSERT_EQUAL(slots_init(&slots), 0);
    first = slots_take(&slots, &stock, &serial);
    mailbox_init(&first->mailbox, serial, 0);
    mailbox_end(&first->mailbox);
    slots_give(&slots, &stock, first);
    second = slots_take(&slots, &stock, &next);
    CU_ASSERT_PTR_EQUAL(first, second); /* hot ones first */
    CU_ASSERT_EQUAL(serial & 1, 1);
    CU_ASSERT_EQUAL(next, serial + 2);
    slots_finish(&slots);
}

static void test_slots_have_numbers_and_addresses_of_their_own(void)
{
    static struct actor *taken[COUNT];
    struct slots slots;
    struct stock stock = { .full.count = 0 };
    uint32_t serial;
    int wrong = 0;

    CU_ASSERT_EQUAL(slots_init(&slots), 0);
    CU_ASSERT_PTR_NULL(slots_get(&slots, 0));
    for (uint32_t i = 0; i < COUNT; i++) {
        taken[i] = slots_take(&slots, &stock, &serial);
        wrong += taken[i]->pid != i || serial == 0;
    }
    for (uint32_t i = 0; i < COUNT; i++)
        wrong += slots_get(&slots, i) != taken[i];
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_PTR_NULL(slots_get(&slots, SLOTS_CHUNK * 3));
    CU_ASSERT_PTR_NULL(slots_get(&slots, UINT32_MAX));
    slots_finish(&slots);
}

/* promise A3 */
static void test_slot_with_its_last_serial_is_retired(void)
{
    struct slots slots;
    struct stock stock = { .full.count = 0 };
    struct actor *actor;
    struct actor *other;
    uint32_t serial;

    CU_ASSERT_EQUAL(slots_init(&slots), 0);
    actor = slots_take(&slots, &stock, &serial);
    mailbox_init(&actor->mailbox, MAILBOX_SERIAL_MAX - 2, 0);
    mailbox_end(&actor->mailbox);
    slots_give(&slots, &stock, actor);
    other = slots_take(&slots, &stock, &serial);
    CU_ASSERT_PTR_NOT_EQUAL(other, actor);
    slots_finish(&slots);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "used again", test_slot_used_again_has_the_next_serial },
        { "numbers", test_slots_have_numbers_and_addresses_of_their_own },
        { "last serial", test_slot_with_its_last_serial_is_retired },
        CU_TEST_INFO_NULL,
    };

    return suite_run("slots", tests);
}
