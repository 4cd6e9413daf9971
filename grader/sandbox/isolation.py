"""The filters that a worker and the process of one exercise put on. Which level means which is told in grader/ladder.py."""

import ctypes
import os
import platform
import resource
import signal
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_GET_SECCOMP, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = (
    1,
    4,
    21,
    22,
    36,
    38,
)
CAPSET = {"x86_64": 126, "aarch64": 91}
LANDLOCK_CREATE, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT = 444, 445, 446


def adopt_orphans():
    """In the worker's parent: processes that lose their parent become ours, and nobody may look into our memory."""
    if sys.platform == "linux":
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def file_rules(readable, writable):
    """In the worker's parent, once: the rules for restrict_files. Only these folders can be opened; no TCP, no signal outside."""
    version = landlock_version()
    handled_fs = (1 << {1: 13, 2: 14}.get(version, 15)) - 1 | ((1 << 15) if version >= 5 else 0)
    attributes = [handled_fs]
    if version >= 4:
        attributes.append(0b11)  # bind and connect TCP
    if version >= 6:
        attributes.append(0b11)  # abstract sockets and signals stay inside
    packed = struct.pack(f"={len(attributes)}Q", *attributes)
    ruleset = _check(LIBC.syscall(LANDLOCK_CREATE, packed, len(packed), 0), "landlock_create_ruleset")
    read_only = 0b1101  # execute, read file, read folder
    for folders, rights in ((readable, read_only), (writable, handled_fs)):
        for folder in folders:
            _allow(ruleset, folder, rights)
    return ruleset


def restrict_files(ruleset):
    """In the process of one exercise: take on the rules for ever."""
    _check(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _check(LIBC.syscall(LANDLOCK_RESTRICT, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def limit_resources(limits):
    """In the process of one exercise. Memory counts from what the process has at this moment."""
    for what, amount in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits["cpu_seconds"]),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
    ):
        resource.setrlimit(what, (amount, amount))
    if sys.platform == "linux":
        with open("/proc/self/statm") as statm:
            present = int(statm.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (present + limits["memory_bytes"],) * 2)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file that grows too large is an error, not a death


def restrict_calls():
    """In the process of one exercise: system calls that reach other processes, start one or open a socket fail."""
    program = _filter(platform.machine(), os.getpid())
    code = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    _check(LIBC.prctl(PR_SET_SECCOMP, 2, header, 0, 0), "seccomp")


def die_with_parent():
    """In the process of one exercise: end when the worker's parent ends."""
    if sys.platform == "linux":
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def clear(folder):
    """Remove everything in a folder, however deep it goes and whatever rights it has: what lies deeper is moved up first."""
    number = 0
    os.chmod(folder, 0o700)
    while entries := list(os.scandir(folder)):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, 0o700)
            for inner in list(os.scandir(entry.path)):
                number += 1
                if inner.is_dir(follow_symlinks=False):
                    os.chmod(inner.path, 0o700)  # without rights of its own a folder can't be moved either
                os.rename(inner.path, os.path.join(folder, f".{os.getpid()}-{number}"))
            os.rmdir(entry.path)


def drop_capabilities():
    """In a process that runs an answer: not even root may then do more than the owner of a file may."""
    if platform.machine() in CAPSET:
        header, nothing = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", *[0] * 6)
        _check(LIBC.syscall(CAPSET[platform.machine()], header, nothing), "capset")


def has_seccomp():
    """Whether the kernel offers seccomp."""
    return LIBC.prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0


def landlock_version():
    """The version of Landlock that the kernel offers, 0 without."""
    if sys.platform != "linux":
        return 0
    return max(0, LIBC.syscall(LANDLOCK_CREATE, None, 0, 1))


def _allow(ruleset, folder, rights):
    try:
        handle = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not os.path.isdir(folder):
        rights &= 0b110  # of these rights, a file can only be written and read
    rule = struct.pack("=Qi", rights, handle)
    _check(LIBC.syscall(LANDLOCK_ADD_RULE, ruleset, 1, rule, 0), f"landlock_add_rule {folder}")
    os.close(handle)


def _check(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


# Numbers of the system calls that an answer has no use for, for each kind of machine. The first three lists differ in their
# answer: "start" and "reach" are refused, "own" is refused unless the first argument is the process itself.
SYSCALLS = {
    "x86_64": {
        "audit": 0xC000003E,
        "clone3": 435,
        "start": (56, 57, 58, 59, 322),  # clone fork vfork execve execveat
        "reach": (
            41, 53, 101, 310, 311, 298, 321, 323, 425, 426, 427, 272, 308, 165, 166, 155, 161, 248, 249, 250, 312, 129, 297,
            424, 434, 438, 440, 200, 29, 64, 68, 240, 175, 313, 246, 169, 170, 171, 428, 429, 430, 431, 432, 442,
            141, 203, 142, 144, 90, 268, 452, 92, 94, 260, 132, 235, 280, 261, 188, 189, 190, 197, 198, 76,
            253, 294, 254, 300, 301, 133, 259,
        ),
        "own": (62, 234, 302),  # kill tgkill prlimit64
    },
    "aarch64": {
        "audit": 0xC00000B7,
        "clone3": 435,
        "start": (220, 221, 281),
        "reach": (
            198, 199, 117, 270, 271, 241, 280, 282, 425, 426, 427, 97, 268, 40, 39, 41, 51, 217, 218, 219, 272, 138, 240,
            424, 434, 438, 440, 130, 194, 190, 186, 180, 105, 273, 104, 142, 161, 162, 428, 429, 430, 431, 432, 442,
            140, 122, 118, 119, 53, 452, 54, 88, 5, 6, 7, 14, 15, 45, 26, 27, 262, 263, 33,
        ),
        "own": (129, 131, 261),
    },
}  # fmt: skip


def _filter(machine, pid):
    """The seccomp program: refuse with EPERM; clone3 does not exist (ENOSYS), so that libc falls back to clone."""
    calls = SYSCALLS[machine]
    load, jump_equal, jump_at_least, give = 0x20, 0x15, 0x35, 0x06
    allow, kill = 0x7FFF0000, 0x80000000
    refuse, missing = 0x00050000 | 1, 0x00050000 | 38

    def step(code, value, yes=0, no=0):
        return struct.pack("HBBI", code, yes, no, value)

    program = [step(load, 4), step(jump_equal, calls["audit"], 1, 0), step(give, kill), step(load, 0)]
    program += [step(jump_at_least, 0x40000000, 0, 1), step(give, refuse)]  # the other numbering of x86_64
    program += [step(jump_equal, calls["clone3"], 0, 1), step(give, missing)]
    for number in calls["start"] + calls["reach"]:
        program += [step(jump_equal, number, 0, 1), step(give, refuse)]
    for number in calls["own"]:
        program += [
            step(jump_equal, number, 0, 5),
            step(load, 16),
            step(jump_equal, pid, 2, 0),
            step(jump_equal, 0, 1, 0),
        ]
        program += [step(give, refuse), step(give, allow)]
    return b"".join([*program, step(give, allow)])
