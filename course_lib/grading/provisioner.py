"""Start a Jupyter kernel in a sandbox: the provisioner that marking asks jupyter_client for."""

from __future__ import annotations

import subprocess
from typing import Any

from jupyter_client.provisioning import LocalProvisioner

from .sandbox import Room

NAME = "course-sandbox"


class SandboxProvisioner(LocalProvisioner):
    """A local kernel inside a `Room`, reached over sockets in the room's own folder."""

    room: Room | None = None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Build the room, and put the kernel's command and connection file into it."""
        if self.room is None:
            self.room = Room()
        manager = self.parent
        manager.transport, manager.ip = "ipc", str(self.room.sockets / "k")
        manager.connection_file = str(self.room.sockets / "c.json")
        manager.cache_ports = False
        # A signal to the process group would end bubblewrap, and process numbers differ inside.
        self.kernel_spec.interrupt_mode = "message"
        kwargs = await super().pre_launch(**kwargs)
        self.room.hand_over()
        kwargs["cmd"] = self.room.command(kwargs["cmd"])
        kwargs["cwd"] = "/"
        # What a process writes past the kernel would land in the marker's own terminal.
        kwargs["stdout"] = kwargs["stderr"] = subprocess.DEVNULL
        return kwargs

    async def shutdown_requested(self, restart: bool = False) -> None:
        """A marking kernel has nothing to save: end it at once."""
        await self.kill(restart=restart)

    async def cleanup(self, restart: bool = False) -> None:
        """Remove the room with the kernel."""
        await super().cleanup(restart=restart)
        if self.room is not None and not restart:
            self.room.remove()
            self.room = None
