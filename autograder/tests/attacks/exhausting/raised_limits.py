"""Lifts its own limits, those of the grader, its priority and its place among the processors."""

import ctypes
import os
import resource

from forge import all_fail

NEEDS = ("seccomp", "limits")
libc = ctypes.CDLL(None, use_errno=True)
above = os.getppid()
TRIES = {
    "limits lifted": lambda: resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2),
    "processor time lifted": lambda: resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY,) * 2),
    "limits of the parent": lambda: resource.prlimit(above, resource.RLIMIT_NOFILE, (3, 3)),
    "priority raised": lambda: os.setpriority(os.PRIO_PROCESS, 0, -20),
    "priority of the parent": lambda: os.setpriority(os.PRIO_PROCESS, above, 19),
    "priority of the user": lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19),
    "processors of the parent": lambda: os.sched_setaffinity(above, {0}),
    "scheduler": lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1)),
    "input and output": lambda: 1 / (libc.syscall(251, 1, 0, 1 << 13) + 1),
}
all_fail(TRIES)
