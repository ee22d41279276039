"""What a student's process may do: limits on every system; on Linux also Landlock and seccomp, if the kernel has them.

Neither needs special rights, and what they forbid stays forbidden for the process and everything it starts. Landlock
lets it read the libraries and write nothing. seccomp refuses new processes, programs, the network, signals, looking
into other processes, and changes to files' rights and dates, which Landlock does not cover.
"""

import contextlib
import ctypes
import os
import platform
import re
import resource
import signal
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

MEMORY, SECONDS = 3 << 28, 120  # bytes beyond Python and PyTorch, whose own pages count, too; of CPU, for a notebook
FILES, PROCESSES, NETWORK = "files", "processes", "network"
ALL = (FILES, PROCESSES, NETWORK)
PROMISES = {
    FILES: "read your files, or write files",
    PROCESSES: "start programs, or reach other processes",
    NETWORK: "use the network",
}

# What prctl is asked for: the signal that comes when the parent ends; who may look in; seccomp; no new privileges.
PARENT, DUMPABLE, GET_SECCOMP, SET_SECCOMP, NO_NEW_PRIVILEGES = 1, 4, 21, 22, 38
FILTER = 2  # seccomp's mode
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446  # system calls, on every machine
ONLY_VERSION, BENEATH = 1, 1  # arguments of the first two: a flag, and a kind of rule
CAPSET = {"x86_64": 126, "aarch64": 91}  # a system call, by machine
CAPABILITIES = 0x20080522  # the version of its arguments
CLONE3 = 435  # its flags are out of a filter's sight: where it is unknown, clone is used

# Landlock's rights: to files; bits of those that came later; and to TCP's ports, abstract sockets and signals.
WRITE, READ, LIST = 0b10, 0b100, 0b1000
REFER, TRUNCATE, DEVICES = 13, 14, 15
BIND_AND_CONNECT, SOCKETS_AND_SIGNALS = 0b11, 0b11

# Steps of a filter: what is loaded or compared, and where the next step is, if it holds and if it does not.
LOAD, EQUAL, LARGER, HAS, GIVE = 0x20, 0x15, 0x25, 0x45, 0x06
KILL, ALLOW, REFUSE, UNKNOWN = 0x80000000, 0x7FFF0000, 0x50001, 0x50026  # the last two: EPERM, ENOSYS

Filter: TypeAlias = tuple[int, int, int, int]  # such a step: what, if it holds, if it does not, with which number


# Rules for the calls that are allowed with some arguments only, as steps with the number of the argument.


def low(argument: int) -> Filter:
    return (LOAD, 0, 0, 16 + 8 * argument)


def with_flag(argument: int, flag: int) -> list[Filter]:
    return [low(argument), (HAS, 0, 1, flag), (GIVE, 0, 0, ALLOW), (GIVE, 0, 0, REFUSE)]


def zero(argument: int) -> list[Filter]:
    high = (LOAD, 0, 0, 20 + 8 * argument)
    return [low(argument), (EQUAL, 0, 3, 0), high, (EQUAL, 0, 1, 0), (GIVE, 0, 0, ALLOW), (GIVE, 0, 0, REFUSE)]


def other_than(argument: int, value: int) -> list[Filter]:
    return [low(argument), (EQUAL, 0, 1, value), (GIVE, 0, 0, REFUSE), (GIVE, 0, 0, ALLOW)]


def only(argument: int, *values: int) -> list[Filter]:
    steps = [low(argument)]
    for value in values:
        steps += [(EQUAL, 0, 1, value), (GIVE, 0, 0, ALLOW)]
    return [*steps, (GIVE, 0, 0, REFUSE)]


THREADS = 0x10000  # CLONE_THREAD
FCNTL = (0, 1, 2, 3, 5, 6, 7, 1030, 1032)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, locks, F_DUPFD_CLOEXEC, F_GETPIPE_SZ
IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # is it a terminal, how wide, how much to read; and settings
# of the file's number alone. All others are refused: those that name a process to be sent signals, or change files.

# The audit's number of each machine.
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# System calls by name, with their numbers on these machines. Those in this table are refused, and so are a new
# kernel's, beyond LAST.
LAST = 462
REFUSED = """
# the network
  socket 41 198, connect 42 203, sendto 44 206, sendmsg 46 211, sendmmsg 307 269, bind 49 200, listen 50 201,
  socketpair 53 199
# new processes
  fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, clone3 435 435
# signals, to whatever process
  kill 62 129, tkill 200 130, tgkill 234 131, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240,
  pidfd_send_signal 424 424, pidfd_open 434 434, pidfd_getfd 438 438, timer_create 222 107
# other processes' memory, and what watches them
  ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272, perf_event_open 298 241,
  bpf 321 280, userfaultfd 323 282
# limits and priorities
  setrlimit 160 164, setpriority 141 140, sched_setscheduler 144 119, sched_setparam 142 118,
  sched_setaffinity 203 122, ioprio_set 251 30, sched_setattr 314 274
# mounts and namespaces
  mount 165 40, umount2 166 39, unshare 272 97, setns 308 268, chroot 161 51, pivot_root 155 41, open_tree 428 428,
  move_mount 429 429, fsopen 430 430, mount_setattr 442 442
# rings of calls, keys, files by handle
  io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, add_key 248 217, request_key 249 218,
  keyctl 250 219, name_to_handle_at 303 264, open_by_handle_at 304 265
# owners, modes, times and attributes of files
  chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55, lchown 94 -,
  fchownat 260 54, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, setxattr 188 5, lsetxattr 189 6,
  fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16
# System V's memory, semaphores and queues
  shmget 29 194, shmat 30 196, shmctl 31 195, semget 64 190, semop 65 193, semtimedop 220 192, semctl 66 191,
  msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, mq_open 240 180
# clocks, boot, modules, names
  settimeofday 164 170, clock_settime 227 112, adjtimex 159 171, clock_adjtime 305 266, reboot 169 142,
  kexec_load 246 104, kexec_file_load 320 294, init_module 175 105, delete_module 176 106, finit_module 313 273,
  swapon 167 224, swapoff 168 225, sethostname 170 161, setdomainname 171 162, iopl 172 -, ioperm 173 -, acct 163 89,
  syslog 103 116, personality 135 92, sysfs 139 -
# truncating, which Landlock covers from Linux 6.2 on; watching folders
  truncate 76 45, inotify_init 253 -, inotify_add_watch 254 27, inotify_init1 294 26, fanotify_init 300 262,
  fanotify_mark 301 263
"""
SOME = {  # calls that are allowed with some arguments only
    "clone 56 220": with_flag(0, THREADS),  # for threads
    "prlimit64 302 261": zero(2),  # to read
    "prctl 157 167": other_than(0, PARENT),  # if this process still ends with its parent
    "fcntl 72 25": only(1, *FCNTL),
    "ioctl 16 29": only(1, *IOCTL),
}


def numbers(calls: str, machine: str) -> dict[str, int]:
    """{name: number} of the calls in a text that the machine has."""
    column = 2 + list(MACHINES).index(machine)
    found = re.finditer(r"(\w+) (\d+|-) (\d+|-)", calls)
    return {match[1]: int(match[column]) for match in found if match[column] != "-"}


def library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def landlock_version() -> int:
    """The kernel's version of Landlock; 0 for none."""
    if sys.platform != "linux":
        return 0
    call, version = library().syscall, ctypes.c_uint32(ONLY_VERSION)
    return max(0, call(ctypes.c_long(LANDLOCK_CREATE_RULESET), None, ctypes.c_size_t(0), version))


def can_filter() -> bool:
    """Is seccomp available, and are the numbers of system calls known for this machine?"""
    return (
        sys.platform == "linux"
        and platform.machine() in MACHINES
        and sys.maxsize > 1 << 32
        and library().prctl(GET_SECCOMP, 0, 0, 0, 0) >= 0
    )


def protections() -> tuple[str, ...]:
    """Which of ALL hold here."""
    filtered = can_filter()
    return tuple(
        name
        for name, holds in ((FILES, landlock_version() and filtered), (PROCESSES, filtered), (NETWORK, filtered))
        if holds
    )


def hide() -> None:
    """From now on, other processes of the same user cannot read this one's memory."""
    if sys.platform == "linux":
        library().prctl(DUMPABLE, 0, 0, 0, 0)


def die_with_parent() -> None:
    if sys.platform == "linux":
        library().prctl(PARENT, signal.SIGKILL, 0, 0, 0)


def confine(readable: Iterable[str]) -> tuple[str, ...]:
    """Confines this process for good; returns the protections that hold."""
    set_limits()
    if os.geteuid() == 0 and sys.platform == "linux":
        drop_capabilities()
    held = protections()
    if held:
        require(library().prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        if FILES in held:
            lock_files(readable)
        filter_calls()
    return held


def drop_capabilities() -> None:
    header, none = struct.pack("<Ii", CAPABILITIES, 0), bytes(24)
    library().syscall(ctypes.c_long(CAPSET.get(platform.machine(), CAPSET["aarch64"])), header, none)


def set_limits() -> None:
    """Limits memory, CPU time and open files. No file may grow; without seccomp, no process or thread may start."""
    limits = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": 0, "RLIMIT_CPU": SECONDS, "RLIMIT_NOFILE": 256}
    limit_memory(MEMORY)
    if not can_filter():
        limits["RLIMIT_NPROC"] = 1
    for name, value in limits.items():
        with contextlib.suppress(OSError, ValueError, AttributeError):
            resource.setrlimit(getattr(resource, name), (value, value))


def limit_memory(more: int) -> None:
    """Limits this process to so many bytes beyond those that it has taken by now, where the system says how many."""
    with contextlib.suppress(OSError, ValueError):
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (taken + more, taken + more))


def require(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def lock_files(readable: Iterable[str]) -> None:
    """Landlock: the only access to the file system is reading below these paths."""
    version, call = landlock_version(), library().syscall
    files = (1 << 13) - 1  # all rights of version 1
    for since, bit in ((2, REFER), (3, TRUNCATE), (5, DEVICES)):
        files |= (version >= since) << bit
    rules = struct.pack("<QQQ", files, BIND_AND_CONNECT * (version >= 4), SOCKETS_AND_SIGNALS * (version >= 6))
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = require(call(ctypes.c_long(LANDLOCK_CREATE_RULESET), rules, ctypes.c_size_t(size), ctypes.c_uint32(0)))
    for path in readable:
        with contextlib.suppress(FileNotFoundError):
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rights = READ | LIST if os.path.isdir(path) else READ | WRITE if str(path) == "/dev/null" else READ
            rule, kind = struct.pack("=Qi", rights, opened), ctypes.c_int(BENEATH)
            require(call(ctypes.c_long(LANDLOCK_ADD_RULE), ctypes.c_int(ruleset), kind, rule, ctypes.c_uint32(0)))
            os.close(opened)
    require(call(ctypes.c_long(LANDLOCK_RESTRICT_SELF), ctypes.c_int(ruleset), ctypes.c_uint32(0)))
    os.close(ruleset)


def filter_calls() -> None:
    """seccomp: the refused calls fail with EPERM, unknown and newer ones with ENOSYS; another machine's end it."""
    machine = platform.machine()
    steps = [
        (LOAD, 0, 0, 4),
        (EQUAL, 1, 0, MACHINES[machine]),
        (GIVE, 0, 0, KILL),
        (LOAD, 0, 0, 0),
        (LARGER, 0, 1, LAST),
        (GIVE, 0, 0, UNKNOWN),
    ]
    for number in sorted(numbers(REFUSED, machine).values()):
        steps += [(EQUAL, 0, 1, number), (GIVE, 0, 0, UNKNOWN if number == CLONE3 else REFUSE)]
    for call, rule in SOME.items():
        (number,) = numbers(call, machine).values()
        steps += [(EQUAL, 0, len(rule), number), *rule]
    steps.append((GIVE, 0, 0, ALLOW))
    code = b"".join(struct.pack("<HBBI", *step) for step in steps)
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(held))
    require(library().prctl(SET_SECCOMP, FILTER, program, 0, 0))
