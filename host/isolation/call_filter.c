/* SPDX-License-Identifier: MIT */
#include "host/isolation/call_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#define X32_BIT 0x40000000u /* of the numbers of another set of calls */
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#else
#define MACHINE 0
#endif

#define FILTER_MAX 512u /* instructions */
#define DENIED (SECCOMP_RET_ERRNO | EPERM)
#define MISSING (SECCOMP_RET_ERRNO | ENOSYS) /* a program then does without the call */

/* Of all machines; some are later than the headers of Debian 12. */
#define CLONE3 435
#define MOUNT_SETATTR 442
#define QUOTACTL_FD 443
#define FIRST_UNKNOWN 451 /* nobody has looked at that call, and at later ones */

/* CLONE_NEWTIME is none of `clone`: there it is a part of a signal. */
#define NEW_SPACES                                                                                 \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET)
#define TYPE_OF_SOCKET 0xfu

static const uint32_t denied[] = {
    /* other processes */
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_tkill,
    SYS_kcmp,
    SYS_setpriority,
    SYS_sched_setaffinity,
    SYS_sched_setscheduler,
    SYS_sched_setparam,
    SYS_sched_setattr,
    SYS_ioprio_set,
    SYS_migrate_pages,
    SYS_move_pages,
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_semctl,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_mq_open,
    SYS_mq_unlink,
    /* its group, and its bounds */
    SYS_setsid,
    SYS_setpgid,
    SYS_setrlimit,
    /* what filters no call */
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    /* the machine */
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_acct,
    SYS_quotactl,
    QUOTACTL_FD,
    SYS_syslog,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_unshare,
    SYS_setns,
    SYS_chroot,
    SYS_pivot_root,
    SYS_mount,
    SYS_umount2,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    MOUNT_SETATTR,
    SYS_open_by_handle_at,
    /* of paths */
    SYS_fchmodat,
    SYS_fchownat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_utimensat,
#ifdef __x86_64__
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_iopl,
    SYS_ioperm,
#endif
};

struct filter {
    struct sock_filter code[FILTER_MAX];
    unsigned short size;
};

static void put(struct filter *filter, struct sock_filter instruction)
{
    if (filter->size < FILTER_MAX)
        filter->code[filter->size] = instruction;
    filter->size++;
}

static void load(struct filter *filter, size_t offset)
{
    put(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void answer(struct filter *filter, uint32_t action)
{
    put(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Equal: goes on; else skips so many instructions. */
static void unless_equal_skip(struct filter *filter, uint32_t value, uint8_t count)
{
    put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count));
}

static void deny(struct filter *filter, uint32_t call)
{
    unless_equal_skip(filter, call, 1);
    answer(filter, DENIED);
}

/* The low half of an argument: those that are compared are ints. */
static size_t argument(unsigned index)
{
    return offsetof(struct seccomp_data, args) + index * sizeof(uint64_t);
}

/* The call, with one of the values, has that action; with any other value the other one. */
static void judge(struct filter *filter, uint32_t call, unsigned index, const uint32_t *values,
                  uint8_t count, uint32_t action, uint32_t other)
{
    unless_equal_skip(filter, call, (uint8_t)(2 * count + 2));
    load(filter, argument(index));
    for (uint8_t i = 0; i < count; i++) {
        unless_equal_skip(filter, values[i], 1);
        answer(filter, action);
    }
    answer(filter, other);
}

/* Signals reach this process and its group alone: as long as the group lives, no other process has
 * these numbers. */
static void judge_signals(struct filter *filter)
{
    const uint32_t own = (uint32_t)getpid();
    const uint32_t targets[] = { own, 0, 0u - own };

    judge(filter, SYS_kill, 0, targets, 3, SECCOMP_RET_ALLOW, DENIED);
    judge(filter, SYS_tgkill, 0, targets, 1, SECCOMP_RET_ALLOW, DENIED);
    judge(filter, SYS_rt_sigqueueinfo, 0, targets, 1, SECCOMP_RET_ALLOW, DENIED);
    judge(filter, SYS_rt_tgsigqueueinfo, 0, targets, 1, SECCOMP_RET_ALLOW, DENIED);
}

/* A descriptor could send a signal to any process of the user. */
static void judge_owners(struct filter *filter)
{
    static const uint32_t commands[] = { F_SETOWN, F_SETSIG, F_SETOWN_EX };
    static const uint32_t requests[] = { FIOSETOWN, SIOCSPGRP, TIOCSTI };

    judge(filter, SYS_fcntl, 1, commands, 3, DENIED, SECCOMP_RET_ALLOW);
    judge(filter, SYS_ioctl, 1, requests, 3, DENIED, SECCOMP_RET_ALLOW);
}

/* Its limits may be read. A pointer: both halves are 0 when none is set. */
static void judge_limits(struct filter *filter)
{
    unless_equal_skip(filter, SYS_prlimit64, 6);
    load(filter, argument(2));
    unless_equal_skip(filter, 0, 3);
    load(filter, argument(2) + sizeof(uint32_t));
    unless_equal_skip(filter, 0, 1);
    answer(filter, SECCOMP_RET_ALLOW);
    answer(filter, DENIED);
}

/* A socket that is no end of a stream could send to any address. */
static void judge_pairs(struct filter *filter)
{
    unless_equal_skip(filter, SYS_socketpair, 7);
    load(filter, argument(1));
    put(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, TYPE_OF_SOCKET));
    unless_equal_skip(filter, SOCK_STREAM, 1);
    answer(filter, SECCOMP_RET_ALLOW);
    unless_equal_skip(filter, SOCK_SEQPACKET, 1);
    answer(filter, SECCOMP_RET_ALLOW);
    answer(filter, DENIED);
}

/* Threads and children. The flags of clone3 are in memory, which no filter reads. */
static void judge_clones(struct filter *filter)
{
    unless_equal_skip(filter, CLONE3, 1);
    answer(filter, MISSING);
    unless_equal_skip(filter, SYS_clone, 4);
    load(filter, argument(0));
    put(filter,
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_SPACES | CLONE_PARENT, 0, 1));
    answer(filter, DENIED);
    answer(filter, SECCOMP_RET_ALLOW);
}

static void make(struct filter *filter, bool network, bool no_truncate)
{
    load(filter, offsetof(struct seccomp_data, arch));
    unless_equal_skip(filter, MACHINE, 1);
    put(filter, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
    answer(filter, DENIED);
    load(filter, offsetof(struct seccomp_data, nr));
#ifdef X32_BIT
    put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1));
    answer(filter, DENIED);
#endif
    put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_UNKNOWN, 0, 1));
    answer(filter, MISSING);
    for (size_t i = 0; i < sizeof denied / sizeof denied[0]; i++)
        deny(filter, denied[i]);
    if (!network) {
        deny(filter, SYS_socket);
        judge_pairs(filter);
    }
    if (no_truncate)
        deny(filter, SYS_truncate);
    judge_signals(filter);
    judge_owners(filter);
    judge_limits(filter);
    judge_clones(filter);
    answer(filter, SECCOMP_RET_ALLOW);
}

bool call_filter_is_there(void)
{
    const uint32_t action = SECCOMP_RET_ERRNO;

    return MACHINE != 0 && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int call_filter_enter(bool network, bool no_truncate)
{
    struct filter filter = { .size = 0 };
    struct sock_fprog program;

    make(&filter, network, no_truncate);
    if (filter.size > FILTER_MAX)
        return E2BIG;
    program = (struct sock_fprog){ .len = filter.size, .filter = filter.code };
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0
               ? 0
               : EPERM;
}
