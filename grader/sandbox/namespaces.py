"""Own namespaces for a worker, where bubblewrap is not installed: no network, own processes, and a file system that holds only
what a Python process needs. Linux only; as root, or where users may make namespaces.
"""

import ctypes
import os
import signal
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS, NEW_UTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEVICES, REMOUNT, BIND, RECURSIVE, PRIVATE, DETACH = 1, 2, 4, 32, 4096, 16384, 1 << 18, 2
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
PARENT_DEATH_SIGNAL = 1


def enter(readable, folder, folder_bytes):
    """Move this process into namespaces of its own. The caller goes on as their first process; another one waits outside.

    readable: files and folders to see, read-only. folder: an empty file system of `folder_bytes`, the only place to write.
    Raises OSError where the kernel refuses.
    """
    user, group = os.getuid(), os.getgid()
    wanted = NEW_MOUNTS | NEW_UTS | NEW_IPC | NEW_PIDS | NEW_NET
    if user != 0:
        wanted |= NEW_USER
    _check(LIBC.unshare(wanted), "unshare")
    if user != 0:
        _map_user(user, group)
    first = os.fork()
    if first:
        _wait_outside(first)
    LIBC.prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    _build_root(readable, folder, folder_bytes)
    os.chdir(folder)


def _map_user(user, group):
    """In its user namespace this process stays who it is."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as mapping:
            mapping.write(text)


def _wait_outside(first):
    """The process that stays outside ends as the first one inside does, and takes it along when it is killed."""
    _, status = os.waitpid(first, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _build_root(readable, folder, folder_bytes):
    _mount(None, "/", None, RECURSIVE | PRIVATE)
    root = folder  # the folder is empty and ours: the new root is put together on top of it
    _mount("tmpfs", root, "tmpfs", NO_SUID | NO_DEVICES, "size=1m,mode=755")
    for device in DEVICES:  # before what is readable, which may name some of them
        _show(device, root, devices=True)
    for path in readable:
        _show(path, root)
    os.makedirs(root + "/proc", exist_ok=True)
    _mount("proc", root + "/proc", "proc", NO_SUID | NO_DEVICES)
    os.makedirs(root + folder, exist_ok=True)
    _mount("tmpfs", root + folder, "tmpfs", NO_SUID | NO_DEVICES, f"size={folder_bytes},nr_inodes=4096,mode=700")
    os.makedirs(root + "/old", exist_ok=True)
    _check(LIBC.syscall(155 if os.uname().machine == "x86_64" else 41, root.encode(), (root + "/old").encode()), "pivot_root")
    os.chdir("/")
    _check(LIBC.umount2(b"/old", DETACH), "umount /old")
    os.rmdir("/old")
    _mount(None, "/", None, REMOUNT | BIND | READ_ONLY | NO_SUID)


def _show(path, root, devices=False):
    """Make one path of the old root visible in the new one, read-only; a symbolic link is copied as it is."""
    if not os.path.lexists(path):
        return
    target = root + path
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.lexists(target):
        return
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
        return
    if os.path.isdir(path):
        os.makedirs(target)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    _mount(path, target, None, BIND | RECURSIVE)
    _mount(None, target, None, REMOUNT | BIND | READ_ONLY | NO_SUID | (0 if devices else NO_DEVICES))


def _mount(source, target, kind, flags, options=None):
    encoded = [None if text is None else text.encode() for text in (source, target, kind, options)]
    _check(LIBC.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3]), f"mount {target}")


def _check(result, what):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


if __name__ == "__main__":  # a probe: python namespaces.py FOLDER PATH…
    enter(sys.argv[2:], sys.argv[1], 1 << 20)
