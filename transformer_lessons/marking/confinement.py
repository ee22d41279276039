"""What a student's process may do: limits on every system; on Linux also Landlock and seccomp, if the kernel has them.

Neither needs special rights, and what they forbid stays forbidden for the process and everything it starts. Landlock
lets it read the libraries and write nothing. seccomp refuses new processes, programs, the network, signals, looking
into other processes, and changes to files' rights and dates, which Landlock does not cover.
"""

import contextlib
import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from pathlib import Path

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

# Rules for the calls that are allowed with some arguments only, as steps with the number of the argument.


def low(argument):
    return (LOAD, 0, 0, 16 + 8 * argument)


def with_flag(argument, flag):
    return [low(argument), (HAS, 0, 1, flag), (GIVE, 0, 0, ALLOW), (GIVE, 0, 0, REFUSE)]


def zero(argument):
    high = (LOAD, 0, 0, 20 + 8 * argument)
    return [low(argument), (EQUAL, 0, 3, 0), high, (EQUAL, 0, 1, 0), (GIVE, 0, 0, ALLOW), (GIVE, 0, 0, REFUSE)]


def other_than(argument, value):
    return [low(argument), (EQUAL, 0, 1, value), (GIVE, 0, 0, REFUSE), (GIVE, 0, 0, ALLOW)]


def only(argument, *values):
    steps = [low(argument)]
    for value in values:
        steps += [(EQUAL, 0, 1, value), (GIVE, 0, 0, ALLOW)]
    return [*steps, (GIVE, 0, 0, REFUSE)]


THREADS = 0x10000  # CLONE_THREAD
FCNTL = (0, 1, 2, 3, 5, 6, 7, 1030, 1032)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, locks, F_DUPFD_CLOEXEC, F_GETPIPE_SZ
IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # is it a terminal, how wide, how much to read; and settings
# of the file's number alone. All others are refused: those that name a process to be sent signals, or change files.

# The numbers of system calls, by machine. Those in these rows are refused, and so are a new kernel's, beyond LAST.
LAST = 462
REFUSED = {
    "x86_64": (
        0xC000003E,
        """
        41 42 44 46 307 49 50 53   socket connect sendto sendmsg sendmmsg bind listen socketpair
        57 58 59 322 435     fork vfork execve execveat clone3
        62 200 234 129 297 424 434 438 222   kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_* timer_create
        101 310 311 312 298 321 323          ptrace process_vm_* kcmp perf_event_open bpf userfaultfd
        160 141 144 142 203 251 314          setrlimit setpriority sched_set* ioprio_set
        165 166 272 308 161 155 428 429 430 442   mount umount unshare setns chroot pivot_root open_tree move_mount …
        425 426 427 248 249 250 303 304      io_uring_* keys name_to_handle_at open_by_handle_at
        90 91 268 452 92 93 94 260 132 235 261 280 188 189 190 197 198 199   chmod chown utime xattr
        29 30 31 64 65 66 68 69 70 71 240    System V memory, semaphores, queues; mq_open
        164 227 159 305 169 246 320 175 176 313 167 168 170 171 172 173 163 103 135 139   clocks, boot, modules, names
        76 253 254 294 300 301               truncate, which Landlock covers from Linux 6.2 on; watching folders
        """,
        {56: with_flag(0, THREADS), 302: zero(2), 157: other_than(0, PARENT), 72: only(1, *FCNTL), 16: only(1, *IOCTL)},
    ),
    "aarch64": (
        0xC00000B7,
        """
        198 203 206 211 269 200 201 199 221 281 435   129 130 131 138 240 424 434 438 107   117 270 271 272 241 280 282
        164 140 118 119 122 30 274   40 39 97 268 51 41 428 429 430 442   425 426 427 217 218 219 264 265
        52 53 452 54 55 88 5 6 7 14 15 16   194 195 196 190 191 192 193 186 187 188 189 180
        170 112 171 266 142 104 294 105 106 273 224 225 161 162 89 116 92   45 26 27 262 263
        """,
        {
            220: with_flag(0, THREADS),
            261: zero(2),
            167: other_than(0, PARENT),
            25: only(1, *FCNTL),
            29: only(1, *IOCTL),
        },
    ),
}  # and: clone only for threads, prlimit only to read, prctl only if this process still ends with its parent


def library():
    return ctypes.CDLL(None, use_errno=True)


def landlock_version():
    """The kernel's version of Landlock; 0 for none."""
    if sys.platform != "linux":
        return 0
    call, version = library().syscall, ctypes.c_uint32(ONLY_VERSION)
    return max(0, call(ctypes.c_long(LANDLOCK_CREATE_RULESET), None, ctypes.c_size_t(0), version))


def can_filter():
    """Is seccomp available, and are the numbers of system calls known for this machine?"""
    return (
        sys.platform == "linux"
        and platform.machine() in REFUSED
        and sys.maxsize > 1 << 32
        and library().prctl(GET_SECCOMP, 0, 0, 0, 0) >= 0
    )


def protections():
    """Which of ALL hold here."""
    filtered = can_filter()
    return tuple(
        name
        for name, holds in ((FILES, landlock_version() and filtered), (PROCESSES, filtered), (NETWORK, filtered))
        if holds
    )


def hide():
    """From now on, other processes of the same user cannot read this one's memory."""
    if sys.platform == "linux":
        library().prctl(DUMPABLE, 0, 0, 0, 0)


def die_with_parent():
    if sys.platform == "linux":
        library().prctl(PARENT, signal.SIGKILL, 0, 0, 0)


def confine(readable):
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


def drop_capabilities():
    header, none = struct.pack("<Ii", CAPABILITIES, 0), bytes(24)
    library().syscall(ctypes.c_long(CAPSET.get(platform.machine(), CAPSET["aarch64"])), header, none)


def set_limits():
    """Limits memory, CPU time and open files. No file may grow; without seccomp, no process or thread may start."""
    limits = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": 0, "RLIMIT_CPU": SECONDS, "RLIMIT_NOFILE": 256}
    limit_memory(MEMORY)
    if not can_filter():
        limits["RLIMIT_NPROC"] = 1
    for name, value in limits.items():
        with contextlib.suppress(OSError, ValueError, AttributeError):
            resource.setrlimit(getattr(resource, name), (value, value))


def limit_memory(more):
    """Limits this process to so many bytes beyond those that it has taken by now, where the system says how many."""
    with contextlib.suppress(OSError, ValueError):
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (taken + more, taken + more))


def require(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def lock_files(readable):
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


def filter_calls():
    """seccomp: the refused calls fail with EPERM, unknown and newer ones with ENOSYS; another machine's end it."""
    machine, text, some = REFUSED[platform.machine()]
    numbers = sorted({int(word) for word in text.split() if word.isdecimal()})
    steps = [
        (LOAD, 0, 0, 4),
        (EQUAL, 1, 0, machine),
        (GIVE, 0, 0, KILL),
        (LOAD, 0, 0, 0),
        (LARGER, 0, 1, LAST),
        (GIVE, 0, 0, UNKNOWN),
    ]
    for number in numbers:
        steps += [(EQUAL, 0, 1, number), (GIVE, 0, 0, UNKNOWN if number == CLONE3 else REFUSE)]
    for number, rule in some.items():
        steps += [(EQUAL, 0, len(rule), number), *rule]
    steps.append((GIVE, 0, 0, ALLOW))
    code = b"".join(struct.pack("<HBBI", *step) for step in steps)
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(held))
    require(library().prctl(SET_SECCOMP, FILTER, program, 0, 0))
