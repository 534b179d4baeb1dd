"""The rights that a server process gets between fork and exec.

Postgres refuses to run as root, and `initdb` needs a user with a name. An ordinary user with a name needs nothing. For
the others there are a few ways, tried in order until one works (`find`):

- As root: become an ordinary user, the one called postgres if there is one and nobody otherwise. It keeps one
  capability, to pass folders on the way that are root's alone (a project in a home of mode 700, the state folder), so
  that no folder of the machine has to be opened for everybody.
- In a container whose root is the only user there is, or as a user id without a name: a user namespace, in which the
  same user goes by another id. Files keep their owner.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_SECUREBITS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 1, 28, 47, 2
_NO_SETUID_FIXUP = 1 << 2
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_CAPABILITY_VERSION_3 = 0x20080522
_CLONE_NEWUSER = 0x10000000


@dataclass(frozen=True, slots=True)
class Privileges:
    """How to run a server. The default: as we are.

    `user`: (uid, gid) to become; with `capability`, keep that one. `namespace`: (uid, gid) to be called in a user
    namespace of its own.
    """

    user: tuple[int, int] | None = None
    capability: int | None = None
    namespace: tuple[int, int] | None = None

    def entering(
        self, on_parent_death: signal.Signals, program: Path | None = None, folder: Path | None = None
    ) -> Callable[[], None]:
        """What to call between fork and exec. With `program` and `folder`: refuse to go on unless it can be run and
        files can be made there.
        """
        parent = os.getpid()

        def enter() -> None:
            if self.namespace is not None:
                _enter_namespace(*self.namespace)
            if self.user is not None:
                _become(*self.user, self.capability)
            if program is not None and not os.access(program, os.X_OK):
                raise PermissionError(program)
            if folder is not None:
                _write_in(folder)
            _die_with_parent(parent, on_parent_death)

        return enter

    def take_over(self, folder: Path) -> None:
        """Make everything in `folder` belong to the user that the server runs as. Only root can have to."""
        uid, gid = self.user or (os.geteuid(), os.getegid())
        if folder.stat().st_uid == uid:
            return
        for inside, folders, files in os.walk(folder):
            for name in (*folders, *files):
                os.chown(Path(inside, name), uid, gid, follow_symlinks=False)
        os.chown(folder, uid, gid)


def find(program: Path, folder: Path, existing: Path) -> Privileges | None:
    """The first way in which `program` runs and may write to `folder`; None when there is none.

    `existing`: data of an earlier start, whose owner is preferred.
    """
    for privileges in _candidates(existing):
        try:
            privileges.take_over(folder)
            tried = subprocess.run(
                [program, "--version"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                timeout=30,
                check=False,
                preexec_fn=privileges.entering(signal.SIGKILL, program, folder),
            )
        except (OSError, subprocess.SubprocessError):
            continue
        if tried.returncode == 0:
            return privileges
    return None


def _candidates(existing: Path) -> Iterator[Privileges]:
    me = os.geteuid()
    if me != 0:
        if _has_name(me):
            yield Privileges()
        elif sys.platform == "linux":
            yield Privileges(namespace=_ordinary_user())
        return
    user = _owner(existing) or _ordinary_user()
    if sys.platform == "linux":
        yield Privileges(user, _CAP_DAC_READ_SEARCH)
        yield Privileges(
            user, _CAP_DAC_OVERRIDE
        )  # what root has in a common container, where the other is taken away
        yield Privileges(namespace=_ordinary_user())


def _owner(existing: Path) -> tuple[int, int] | None:
    """Who owns the data of an earlier start, unless that was root in a namespace."""
    try:
        found = existing.stat()
    except OSError:
        return None
    return (found.st_uid, found.st_gid) if found.st_uid != 0 and _has_name(found.st_uid) else None


def _ordinary_user() -> tuple[int, int]:
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        if found.pw_uid != 0:
            return found.pw_uid, found.pw_gid
    return 65_534, 65_534


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _write_in(folder: Path) -> None:
    """Raises OSError unless files can be made there. (access(2) would not count a kept capability.)"""
    probe = folder / f".probe-{os.getpid()}"
    os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    probe.unlink()


def _become(uid: int, gid: int, capability: int | None) -> None:
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    if capability is None:
        os.setresuid(uid, uid, uid)
        return
    # Rights neither vanish with the user id nor when a program asks access(2), as initdb does for its companions.
    _prctl(_PR_SET_SECUREBITS, _NO_SETUID_FIXUP)
    os.setresuid(uid, uid, uid)
    mask = 1 << capability
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(
        mask, mask, mask, 0, 0, 0
    )  # effective, permitted, inheritable; low words first
    _checked(ctypes.CDLL(None, use_errno=True).capset(header, data), "capset")
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability)


def _enter_namespace(uid: int, gid: int) -> None:
    outer_uid, outer_gid = os.geteuid(), os.getegid()
    _checked(ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWUSER), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {outer_uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {outer_gid} 1")


def _die_with_parent(parent: int, number: signal.Signals) -> None:
    """Have the kernel send `number` when the supervisor is gone. Elsewhere than on Linux nothing does that."""
    if sys.platform != "linux":
        return
    _prctl(_PR_SET_PDEATHSIG, int(number))
    if os.getppid() != parent:  # it was faster
        os._exit(1)


def _prctl(option: int, *arguments: int) -> None:
    values = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    _checked(ctypes.CDLL(None, use_errno=True).prctl(option, *values), f"prctl {option}")


def _checked(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
