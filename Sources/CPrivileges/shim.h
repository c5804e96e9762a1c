#pragma once
#include <grp.h>
#include <linux/capability.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// prctl and syscall take C varargs, which Swift cannot call.

// Makes this process of root's one of another user and group, for good: it has no other groups, and its
// real, effective and saved ids are changed. One of root's rights stays, also after the next exec: to read
// every file and to search every folder (CAP_DAC_READ_SEARCH). Where the system does not grant it, it is lost
// like all others. capset and prctl change the calling thread alone, so exec has to follow, which ends all
// other threads. Returns 0, or -1 with errno; the process has to end then.
static inline int understudy_become(uid_t user, gid_t group) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct rights[2] = {{0, 0, 0}, {0, 0, 0}};
    rights[0].effective = 1u << CAP_DAC_READ_SEARCH;
    rights[0].permitted = rights[0].effective;
    rights[0].inheritable = rights[0].effective;
    prctl(PR_SET_KEEPCAPS, 1L, 0L, 0L, 0L);
    // The user comes last: without root's id the groups cannot be changed any more.
    if (setgroups(0, NULL) != 0 || setgid(group) != 0 || setuid(user) != 0) return -1;
    prctl(PR_CAP_AMBIENT, (long)PR_CAP_AMBIENT_CLEAR_ALL, 0L, 0L, 0L);
    if (syscall(SYS_capset, &header, rights) == 0)
        prctl(PR_CAP_AMBIENT, (long)PR_CAP_AMBIENT_RAISE, (long)CAP_DAC_READ_SEARCH, 0L, 0L);
    return 0;
}
