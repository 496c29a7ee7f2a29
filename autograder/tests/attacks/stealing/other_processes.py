"""Looks at other processes through the kernel: their clocks, places among the processors, groups, sessions, priorities."""

import os
import time

from forge import all_fail_with

NEEDS = ("seccomp",)
all_fail_with(
    (1, os.getppid()),
    lambda pid: time.clock_gettime(~pid << 3 | 2),
    lambda pid: time.clock_getres(~pid << 3 | 2),
    os.sched_getaffinity,
    os.sched_getscheduler,
    os.sched_getparam,
    os.getpgid,
    os.getsid,
    lambda pid: os.getpriority(os.PRIO_PROCESS, pid),
)
