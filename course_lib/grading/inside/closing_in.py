"""Close a forked kernel in: its own user, namespaces and folders in memory, no privileges, no way out."""

from __future__ import annotations

import ctypes
import os
import resource
import socket
from typing import Any

# linux/sched.h
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
NAMESPACES = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
# sys/mount.h
NOSUID, NODEV, NOEXEC = 2, 4, 8
BIND, RECURSIVE, PRIVATE = 1 << 12, 1 << 14, 1 << 18
# sys/prctl.h, linux/capability.h
SET_DUMPABLE = 4
CAPBSET_DROP = 24
SET_NO_NEW_PRIVS = 38
CAP_AMBIENT, CLEAR_ALL = 47, 4
CAPABILITY_VERSION_3 = 0x20080522
# asm/unistd.h, linux/keyctl.h
KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "ppc64le": 271, "s390x": 280}
JOIN_SESSION_KEYRING = 1
libc = ctypes.CDLL(None, use_errno=True)


def become_user(user: int) -> None:
    """Where the marker is root, each kernel is a user of its own: Linux counts much by user. Elsewhere it is
    nobody already."""
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    libc.prctl(SET_DUMPABLE, 1, 0, 0, 0)  # or what /proc tells of this process is root's


def own_namespaces() -> None:
    """New namespaces: this process is in them but for that of processes, where its children will be."""
    user, group = os.getuid(), os.getgid()
    _checked(libc.unshare(NAMESPACES), "unshare")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def join_own_keyring() -> None:
    """A session keyring of its own: what one kernel left in that of the marker's session, another could read.
    Where the system has none, or forbids to use it, there is nothing to leave."""
    libc.syscall(ctypes.c_long(KEYCTL.get(os.uname().machine, -1)), ctypes.c_long(JOIN_SESSION_KEYRING), None)


def close_in(request: dict[str, Any]) -> None:
    """Folders and limits as requested, and no privileges. Raises: OSError where something is still open."""
    join_own_keyring()
    _own_folders(request)
    for limit, value in request["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{limit}"), (value, value))
    _give_up_privileges()
    _look_around(request["concealed"])


def _own_folders(request: dict[str, Any]) -> None:
    """New folders in memory over what all kernels share; what lies below /tmp is shown again."""
    _mount("none", "/", None, RECURSIVE | PRIVATE)
    again = [(path, os.open(path, os.O_PATH)) for path in request["again"]]
    size = f"size={request['temporary']}m,mode=1777"
    _mount("tmpfs", "/tmp", "tmpfs", NOSUID | NODEV, size)
    for path, descriptor in again:
        os.makedirs(path, exist_ok=True)
        _mount(f"/proc/self/fd/{descriptor}", path, None, BIND | RECURSIVE)
        os.close(descriptor)
    os.makedirs("/tmp/home")
    os.makedirs(request["work"])
    _mount("tmpfs", "/dev/shm", "tmpfs", NOSUID | NODEV, size)
    _mount("proc", "/proc", "proc", NOSUID | NODEV | NOEXEC)
    with open("/proc/sys/user/max_user_namespaces", "w") as file:
        file.write("0")


def _give_up_privileges() -> None:
    capability = 0
    while libc.prctl(CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    libc.prctl(CAP_AMBIENT, CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    _checked(libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")
    _checked(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")


def _look_around(concealed: list[str]) -> None:
    """Every kernel makes sure that it is closed in before it runs anybody's code."""
    with open("/proc/self/status") as file:
        privileges = [line.split()[1] for line in file if line.startswith("Cap")]
    ways = [name for _, name in socket.if_nameindex() if name != "lo"]
    seen = [path for path in concealed if os.path.exists(path)]
    processes = [name for name in os.listdir("/proc") if name.isdigit()]
    if any(int(each, 16) for each in privileges) or ways or seen or processes != ["1"]:
        raise OSError(f"not closed in: {privileges} {ways} {seen} {processes}")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    words = [None if word is None else word.encode() for word in (source, target, kind)]
    options = None if data is None else data.encode()
    _checked(libc.mount(*words, ctypes.c_ulong(flags), options), f"mount {target}")


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
