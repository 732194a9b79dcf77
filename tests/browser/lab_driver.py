"""Start one private JupyterLab, and use it as a student does: open, type, run, read, press Validate."""

import ctypes
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page

import as_user

SETTINGS = {
    "apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    # Cells outside the window must be in the page too, so that tests find them.
    "notebook-extension/tracker": {"windowingMode": "none"},
    "docmanager-extension/plugin": {"autosave": False},
}
IDLE = """() => {
  const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
  return kernel?.connectionStatus === "connected" && kernel.status === "idle";
}"""
LEAVE = """async () => {
  for (const widget of [...window.jupyterapp.shell.widgets("main")]) {
    await widget.sessionContext?.shutdown();
    widget.dispose();
  }
}"""
# Nothing is given back: the opened widget is too large for the protocol.
OPEN = """async (path) => {
  await window.jupyterapp.commands.execute("docmanager:open", { path });
}"""
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"


@dataclass(frozen=True)
class Lab:
    """A running server: its address, its token, and the folder that it serves."""

    address: str
    token: str
    root: Path


@contextmanager
def running_lab(root: Path, state: Path, patience: float = 40, user: str | None = None) -> Iterator[Lab]:
    """Serve `root` from a new JupyterLab that keeps its state in `state`; stop it and its kernels after.

    user: who runs it, at home in the folder above `state`, where that is not the user of the tests.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lab = Lab(f"http://127.0.0.1:{port}", secrets.token_hex(16), root)
    log, environment, before = state / "server.log", _environment(state), []
    if user is not None:
        as_user.give(user, state)
        before = as_user.as_user(user, state.parent)
    with log.open("w") as output:
        server = subprocess.Popen(
            [*before, *_command(lab, port)],
            env=environment,
            cwd=root,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_end_with_the_tests if sys.platform == "linux" else None,
        )
        try:
            _wait(lab, server, log, patience)
            yield lab
        finally:
            _stop(server)


def _command(lab: Lab, port: int) -> list[str]:
    options = [
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={lab.token}",
        f"--ServerApp.root_dir={lab.root}",
        "--ServerApp.terminals_enabled=False",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
    ]
    return [sys.executable, "-m", "jupyterlab", *options]


def _environment(state: Path) -> dict[str, str]:
    """This process's environment, with every folder that Jupyter or matplotlib writes to below `state`."""
    names = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "MPLCONFIGDIR": "matplotlib",
    }
    for folder in names.values():
        (state / folder).mkdir(exist_ok=True)
    for name, values in SETTINGS.items():
        file = state / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    beside_python = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    private = {name: str(state / folder) for name, folder in names.items()}
    return {
        **os.environ,
        **private,
        "PATH": beside_python,
        "JUPYTER_PREFER_ENV_PATH": "1",
        "OMP_NUM_THREADS": "1",
    }


def _end_with_the_tests() -> None:
    """Ask Linux to send SIGTERM to the server when the test process dies, however it dies."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)


def _wait(lab: Lab, server: subprocess.Popen, log: Path, patience: float) -> None:
    end = time.monotonic() + patience
    while time.monotonic() < end and server.poll() is None:
        with (
            suppress(OSError),
            urllib.request.urlopen(f"{lab.address}/api/status?token={lab.token}", timeout=2),
        ):
            return
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


def _stop(server: subprocess.Popen) -> None:
    """Let the server end its kernels, then end whatever is left of its own process group."""
    server.terminate()
    with suppress(subprocess.TimeoutExpired):
        server.wait(10)
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def open_notebook(page: Page, lab: Lab, path: str) -> None:
    """Open a notebook (a path below the server's root) and wait for its kernel.

    A page that shows this JupyterLab already leaves what is open there, unsaved, and reads the file anew.
    """
    if page.url.startswith(lab.address) and page.evaluate("() => Boolean(window.jupyterapp)"):
        page.evaluate(LEAVE)
        page.evaluate(OPEN, path)
    else:
        page.goto(f"{lab.address}/lab/tree/{path}?token={lab.token}&reset")
        page.wait_for_selector("#jupyterlab-splash", state="detached")
    page.wait_for_selector(f"{PANEL} .jp-Cell")
    wait_until_idle(page)


def wait_until_idle(page: Page, seconds: float = 60) -> None:
    page.wait_for_function(IDLE, timeout=1000 * seconds)


def trust(page: Page) -> None:
    """Choose Trust Notebook, and say yes when JupyterLab asks."""
    page.evaluate("() => void window.jupyterapp.commands.execute('notebook:trust')")
    page.locator(".jp-Dialog .jp-mod-accept").click()


def save(page: Page) -> None:
    """Save the open notebook, which signs what its user ran."""
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")


def change_theme(page: Page, name: str) -> None:
    """Choose a theme of JupyterLab, and wait until its colours are there."""
    page.evaluate("(theme) => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", name)
    page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")
    page.wait_for_selector("#jupyterlab-splash", state="detached")


def run_all(page: Page, seconds: float = 120) -> None:
    """Run every cell; the command's promise is kept when the last has finished."""
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    wait_until_idle(page, seconds)


def errors(page: Page) -> list[str]:
    """What cells of the open notebook wrote as an error or to standard error."""
    outputs = page.evaluate(
        """() => [...window.jupyterapp.shell.currentWidget.content.widgets].flatMap(
             (cell) => cell.model.type === "code" ? cell.model.outputs.toJSON() : [])"""
    )
    return [
        f"{each.get('ename', each.get('name'))}: {each.get('evalue', each.get('text'))}"
        for each in outputs
        if each["output_type"] == "error" or each.get("name") == "stderr"
    ]


def cell(page: Page, cell_id: str) -> Locator:
    """The cell with this id in the open notebook."""
    places = page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.widgets.map((cell) => cell.model.id)"
    )
    return page.locator(f"{PANEL} .jp-Cell").nth(places.index(cell_id))


def source(page: Page, cell_id: str) -> str:
    """The text of a cell, as the notebook's model holds it."""
    find = """(id) => window.jupyterapp.shell.currentWidget.content.widgets
      .find((cell) => cell.model.id === id).model.sharedModel.source"""
    return page.evaluate(find, cell_id)


def type_into(page: Page, cell_id: str, text: str) -> None:
    """Replace a cell's text as by pasting: click into it, select all, insert."""
    cell(page, cell_id).locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)
    written = source(page, cell_id)
    assert written == text, f"the editor holds {written!r}"


def run_cell(page: Page, cell_id: str, seconds: float = 60) -> str:
    """Run one cell with Ctrl+Enter and give what it shows."""
    one = cell(page, cell_id)
    if "jp-mod-selected" not in (one.get_attribute("class") or ""):
        one.locator(".cm-content").click()
    page.evaluate("() => window.jupyterapp.shell.currentWidget.content.activeCell.model.clearExecution()")
    page.keyboard.press("ControlOrMeta+Enter")
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.content.activeCell.model.executionCount !== null",
        timeout=1000 * seconds,
    )
    wait_until_idle(page, seconds)
    return output(page, cell_id)


def output(page: Page, cell_id: str) -> str:
    """The text below a cell."""
    area = cell(page, cell_id).locator(".jp-Cell-outputArea")
    return area.inner_text() if area.count() else ""


def press_validate(page: Page, seconds: float = 90) -> str:
    """Press nbgrader's Validate in the toolbar; give the dialog's text and close it."""
    page.locator(f"{PANEL} .jp-Toolbar").get_by_text("Validate", exact=True).click()
    dialog = page.locator(".jp-Dialog")
    dialog.wait_for(timeout=1000 * seconds)
    said = dialog.inner_text()
    dialog.locator("button").last.click()
    dialog.wait_for(state="detached")
    return said
