#pragma once
#include <grp.h>
#include <linux/capability.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// prctl and syscall take C varargs, which Swift cannot call.

// Root becomes another user and group for good. Until the next exec and after it, one right of root's stays:
// to read every file and to search every folder (CAP_DAC_READ_SEARCH). Where it cannot be kept, it is lost
// like all others. Returns 0, or -1 with errno.
static inline int understudy_become(uid_t user, gid_t group) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct rights[2] = {{0, 0, 0}, {0, 0, 0}};
    rights[0].effective = 1u << CAP_DAC_READ_SEARCH;
    rights[0].permitted = rights[0].effective;
    rights[0].inheritable = rights[0].effective;
    prctl(PR_SET_KEEPCAPS, 1L, 0L, 0L, 0L);
    if (setgroups(0, NULL) != 0 || setgid(group) != 0 || setuid(user) != 0) return -1;
    if (syscall(SYS_capset, &header, rights) == 0)
        prctl(PR_CAP_AMBIENT, (long)PR_CAP_AMBIENT_RAISE, (long)CAP_DAC_READ_SEARCH, 0L, 0L);
    return 0;
}
