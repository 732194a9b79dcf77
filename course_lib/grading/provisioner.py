"""Start a Jupyter kernel in a sandbox: the provisioner that marking asks jupyter_client for."""

from __future__ import annotations

import asyncio
import subprocess
import time
from typing import Any

from jupyter_client.provisioning import LocalProvisioner
from traitlets import List, Unicode

from . import warm
from .line import ForkedKernel, Line
from .sandbox import Room

NAME = "course-sandbox"
KILL_SECONDS = 5.0
SOCKETS = [f"k-{number}" for number in range(1, 6)]


class SandboxProvisioner(LocalProvisioner):
    """A local kernel inside a `Room`, reached over sockets in the room's own folder.

    It is a fork of a warm parent with `modules` imported, or, without modules or where forks cannot be closed
    in, a process of its own.
    """

    modules = List(Unicode(), help="what the kernel finds imported already; none: start it cold")
    room: Room | None = None
    line: Line | None = None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Build the room, and put the kernel's command and connection file into it."""
        if self.room is None:
            self.line = warm.line_with(self.modules) if self.modules else None
            self.room = Room() if self.line is None else self.line.room()
        manager = self.parent
        manager.transport, manager.ip = "ipc", str(self.room.sockets / "k")
        manager.connection_file = str(self.room.sockets / "c.json")
        manager.cache_ports = False
        # A signal to the process group would end bubblewrap, and process numbers differ inside.
        self.kernel_spec.interrupt_mode = "message"
        kwargs = await super().pre_launch(**kwargs)
        self.room.hand_over()
        kwargs["cwd"] = "/"
        # What a process writes past the kernel would land in the marker's own terminal.
        kwargs["stdout"] = kwargs["stderr"] = subprocess.DEVNULL
        return kwargs

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Fork the kernel, or start it; come back when its sockets are there."""
        if self.line is not None:
            self.process = self._forked(self.line)
        if self.process is None:
            await super().launch_kernel(self.room.command(cmd), **kwargs)
        while await self.poll() is None and not self._bound():
            await asyncio.sleep(0.002)
        return self.connection_info

    def close_room(self) -> None:
        """Let a kernel that has answered, and has made all its files, put no other beside its sockets."""
        if self.room is not None:
            self.room.close()

    def _bound(self) -> bool:
        return all((self.room.sockets / name).exists() for name in SOCKETS)

    def _forked(self, line: Line) -> ForkedKernel | None:
        try:
            kernel = line.fork(self.room, ["-f", self.parent.connection_file])
        except OSError as error:
            if line.alive:
                warm.give_up(self.modules, error)
            return None  # where the parent has ended, the next kernel has another
        self.pid, self.pgid = kernel.pid, None
        return kernel

    async def wait(self) -> int | None:
        """Wait for the kernel's end."""
        while await self.poll() is None:
            await asyncio.sleep(0.002)
        return await super().wait()

    async def kill(self, restart: bool = False) -> None:
        """End the kernel; come back when it has ended: jupyter_client would look again a tenth of a second
        later."""
        await super().kill(restart=restart)
        end = time.monotonic() + KILL_SECONDS
        while await self.poll() is None and time.monotonic() < end:
            await asyncio.sleep(0.002)

    async def shutdown_requested(self, restart: bool = False) -> None:
        """A marking kernel has nothing to save: end it at once."""
        await self.kill(restart=restart)

    async def cleanup(self, restart: bool = False) -> None:
        """Remove the room with the kernel."""
        await super().cleanup(restart=restart)
        if self.room is not None and not restart:
            self.room.remove()
            self.room = None
