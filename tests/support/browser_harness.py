"""Notebooks in a real browser: a Jupyter server of their own, Chromium, and one notebook opened, run and checked.

    with front_end("lab", folder) as opened, opened("x.ipynb") as sheet:
        sheet.run_all()
        sheet.faults()        # what no learner should see, a line each

Front ends are "lab" (JupyterLab, one document), "desk" (JupyterLab as `make lab` opens it) and "notebook" (Notebook 7).
The user's own Jupyter is neither read nor changed. Requests beyond this machine are refused and noted.
"""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from nbformat.sign import NotebookNotary
from playwright.sync_api import Browser, Page, sync_playwright

from notebook_frame import frame
from notebook_slice import needed_cells
from other_seeds import reseeded
from repository import COURSE

WINDOW = {"width": 1280, "height": 900}
LAUNCH = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
# No news, no autosave, and all cells in the page even when they are not in view.
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
}
FRONT_ENDS = {  # module to start, its class of settings, path of a notebook
    "lab": ("jupyterlab", "LabApp", "doc/tree"),
    "desk": ("jupyterlab", "LabApp", "lab/tree"),
    "notebook": ("notebook", "JupyterNotebookApp", "notebooks"),
}
# Harmless console errors of the front end itself: (part of the message, why it is ignored).
HARMLESS = (
    ("reading 'schema'", "Notebook 7 lists its shortcuts before all its settings have come, and then lists them again"),
    (
        "Failed to initialize model",
        "anywidget waits 2 s, a busy machine takes longer; the moves show any harm",
    ),
)


def find_chromium() -> str | None:
    """Path of a Chromium: the one that TX_CHROMIUM names, else the first on the PATH."""
    if named := os.environ.get("TX_CHROMIUM"):
        return named
    names = Path(__file__).with_name("chromium_names.txt").read_text("utf-8").split()  # .ci/run reads it, too
    return next((path for name in names if (path := shutil.which(name))), None)


def require_chromium() -> str:
    """Its path. Without one the test is skipped, or fails if TX_REQUIRE_BROWSER is set."""
    if path := find_chromium():
        return path
    why = "no Chromium found: explorers not tested (get one by: apt install chromium, or name yours in TX_CHROMIUM)"
    if os.environ.get("TX_REQUIRE_BROWSER"):
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


def copy_notebooks(folder: Path, whole: bool = True, seed: int = 0) -> None:
    """The course's notebooks without outputs, whole or only the cells that the explorers need, their seeds raised.

    They have no stamped address, since Colab's badge would be a request beyond this machine.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in COURSE:
        notebook = nbformat.read(path, as_version=4)
        frame(notebook.cells, path, address="")
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        for cell in code:
            cell.outputs, cell.execution_count = [], None
            cell.source = reseeded(cell.source, path.stem, seed) if seed else cell.source
        if not whole:
            notebook.cells = [code[index] for index in needed_cells([cell.source for cell in code])]
        nbformat.write(notebook, folder / path.name)


def shared_cache(tmp_path_factory) -> Path:
    """One cache for all servers and processes of a test run: the first that needs a model trains it."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if os.environ.get("PYTEST_XDIST_WORKER") else folder) / "tx_cache"
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser. It and Playwright's event loop, which would disturb other tests, are closed at the end."""
    path = require_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=LAUNCH)
        yield browser
        browser.close()


class Server:
    """A Jupyter server for the notebooks of `folder`; a context manager, which ends the server and its kernels.

    cache  where the kernels store trained models; by default a folder that is removed with the server
    """

    def __init__(self, front_end: str, folder: Path, cache: Path | None = None):
        module, app, self._path = FRONT_ENDS[front_end]
        self.front_end, self._token = front_end, secrets.token_hex(16)
        self._home = Path(tempfile.mkdtemp(prefix="tx_browser_"))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        for name in ("config", "data", "runtime", "ipython", "cache", "settings"):
            (self._home / name).mkdir()
        (self._home / "settings" / "overrides.json").write_text(json.dumps(SETTINGS))
        notary = NotebookNotary(data_dir=str(self._home / "data"))
        for path in folder.glob("*.ipynb"):  # trusted, as `make lab` has them
            notary.sign(nbformat.read(path, as_version=4))
        self._command = [
            *(sys.executable, "-m", module, "--no-browser", "--allow-root", "--ip=127.0.0.1"),
            *(f"--port={self._port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={self._token}"),
            *(f"--ServerApp.root_dir={folder}", f"--{app}.expose_app_in_browser=True"),
            *("--LabApp.extension_manager=readonly", f"--{app}.app_settings_dir={self._home / 'settings'}"),
        ]
        self._environment = os.environ | {
            "JUPYTER_CONFIG_DIR": str(self._home / "config"),
            "JUPYTER_DATA_DIR": str(self._home / "data"),
            "JUPYTER_RUNTIME_DIR": str(self._home / "runtime"),
            "IPYTHONDIR": str(self._home / "ipython"),
            "TX_CACHE": str(cache or self._home / "cache"),
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        }

    def url(self, notebook: str) -> str:
        """Where the front end shows a notebook of the folder, in a fresh workspace."""
        return f"http://127.0.0.1:{self._port}/{self._path}/{notebook}?token={self._token}&reset"

    def __enter__(self) -> "Server":
        self._log = (self._home / "log").open("wb")
        self._process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=os.name == "posix",
        )
        try:
            self._wait_until_it_answers(seconds=180)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _wait_until_it_answers(self, seconds: float) -> None:
        status = f"http://127.0.0.1:{self._port}/api/status?token={self._token}"
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                with urllib.request.urlopen(status, timeout=5):
                    return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError("the Jupyter server does not answer:\n" + (self._home / "log").read_text()[-3000:])

    def __exit__(self, *_) -> None:
        for sign in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):  # asked, it ends its kernels first
            if self._process.poll() is None:
                os.killpg(self._process.pid, sign) if os.name == "posix" else self._process.terminate()
                try:
                    self._process.wait(timeout=15)
                except subprocess.TimeoutExpired:
                    continue
        self._log.close()
        shutil.rmtree(self._home, ignore_errors=True)


class Sheet:
    """A notebook open in a front end, and the page's complaints so far."""

    def __init__(self, page: Page, notebook: str, server: Server):
        self.page, self.notebook, self._server = page, notebook, server
        self._complaints: list[str] = []
        page.on("console", lambda message: message.type == "error" and self._complain(message.text))
        page.on("pageerror", lambda error: self._complain(str(error)))
        page.on("request", lambda request: self._note_foreign(request.url))
        page.on("websocket", lambda socket: self._note_foreign(socket.url))
        page.route(is_foreign, lambda route: route.abort())

    def goto(self, notebook: str | None = None) -> None:
        """Open another notebook in this window, or this one anew."""
        self.notebook = notebook or self.notebook
        self.page.goto(self._server.url(self.notebook), wait_until="domcontentloaded")

    def save(self) -> None:
        self.page.evaluate("() => jupyterapp.commands.execute('docmanager:save')")
        self.wait("!jupyterapp.shell.currentWidget.context.model.dirty", 60, "the notebook was not saved")

    def _complain(self, text: str) -> None:
        if not any(part in text for part, _ in HARMLESS):
            self._complaints.append(f"console error: {text}")

    def _note_foreign(self, url: str) -> None:
        if is_foreign(url):
            self._complaints.append(f"request beyond this machine: {url}")

    def wait(self, condition: str, seconds: float, what: str) -> None:
        """Wait until the JavaScript condition holds; the AssertionError says what did not happen."""
        try:
            self.page.wait_for_function(condition, timeout=1000 * seconds, polling=50)
        except Exception as error:
            raise AssertionError(f"{self.notebook}: {what} within {seconds} s: {error}") from None

    def run_all(self, seconds: float = 600, *, from_menu: bool = False) -> None:
        """Run all cells, if asked to by clicks on Run, Run All Cells; wait until kernel and widgets are ready."""
        self.wait(f"{KERNEL}?.status === 'idle' && {KERNEL}.connectionStatus === 'connected'", 180, "no kernel")
        if from_menu:
            for name in ("Run", "Run All Cells"):
                self.page.get_by_role("menuitem", name=name, exact=True).click()
            done = f"({COUNTS}.every(Boolean) || document.querySelector('{ERRORS}'))"
        else:
            command = "jupyterapp.commands.execute('notebook:run-all-cells')"
            self.page.evaluate(f"() => {{ {command}.finally(() => {{ window.txRan = true }}) }}")
            done = "window.txRan"
        self.wait(f"{done} && {KERNEL}.status === 'idle'", seconds, "the cells did not all run")
        self.wait(WIDGETS_SHOWN, 180, "a widget is not shown")
        self.settle()

    def show_what_waits(self) -> None:
        """Press *Show me* at every question, so that the explorers that answer one can be moved."""
        waiting = "() => [...document.querySelectorAll('button')].filter((b) => b.textContent.trim() === 'Show me')"
        self.page.evaluate(f"() => ({waiting})().forEach((button) => button.click())")
        self.settle()

    def count_faults(self) -> list[str]:
        """Code cells that were not run once each, from the first to the last, as one line or none."""
        counts = self.page.evaluate(COUNTS)
        wanted = list(range(1, len(counts) + 1))
        return [] if counts == wanted else [f"the execution counts are {counts}, expected 1 to {len(counts)}"]

    def end_kernel(self) -> None:
        """End the kernel, so that many notebooks do not fill the memory."""
        self.page.evaluate("() => jupyterapp.shell.currentWidget?.sessionContext?.shutdown()")

    def settle(self) -> None:
        """Let the browser draw twice, so that earlier changes are in the page."""
        self.page.evaluate("() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def set_theme(self, theme: str) -> None:
        """ "Light" or "Dark"."""
        it_is = f"document.body.dataset.jpThemeLight === '{str(theme == 'Light').lower()}'"
        if not self.page.evaluate(it_is):
            change = f"jupyterapp.commands.execute('apputils:change-theme', {{theme: 'JupyterLab {theme}'}})"
            self.page.evaluate(f"() => {change}")
            self.wait(it_is, 60, f"the theme is not {theme}")
            self.settle()

    def faults(self) -> list[str]:
        """Error and stderr outputs in the page, console errors and foreign requests so far."""
        outputs = self.page.evaluate(
            """() => ["error", "stderr"].flatMap(kind =>
                [...document.querySelectorAll(`[data-mime-type="application/vnd.jupyter.${kind}"]`)]
                    .map(output => `${kind} output: ${output.innerText.trim()}`))"""
        )
        return [*outputs, *self._complaints]

    def axe_faults(self, selector: str, rules: tuple[str, ...] = ()) -> list[str]:
        """Serious and critical findings of axe-core in the elements, by all its rules or by these, a line each."""
        options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
        found = Axe().run(self.page, context=selector, options=options)
        return [
            f"axe: {each['id']} ({each['impact']}): {each['help']}: {node['target'][0]}: {node['html'][:200]}"
            for each in found.response["violations"]
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]


# Toy notebooks are opened in both front ends: `make test` opens them in JupyterLab, `make thorough` in Notebook 7, too.
BOTH = ["lab", pytest.param("notebook", marks=pytest.mark.thorough)]
NOTEBOOKS = [path.name for path in COURSE]
# `make test` opens one notebook for each kind of control in JupyterLab (the stepper is opened in Notebook 7, by
# test_browser_notebook7.py), `make thorough` all of them.
A_NOTEBOOK_A_KIND = {
    "00_start_here.ipynb": "the machine, an attention view, text that is typed",
    "05_multi_head_attention.ipynb": "a training that a button starts and stops, a grid to click on",
    "20_scaling_up.ipynb": "a part of a picture that is pointed at",
}
WIDGETS_SHOWN = """[...document.querySelectorAll('[data-mime-type="application/vnd.jupyter.widget-view+json"]')]
    .every(output => output.querySelector(".jupyter-widgets"))"""
KERNEL = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel"
ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'
# The execution counts of the code cells of the notebook in front, in order.
COUNTS = """(cells => Array.from({length: cells.length}, (_, i) => cells.get(i))
    .filter(cell => cell.type === "code").map(cell => cell.executionCount))
    (window.jupyterapp.shell.currentWidget.context.model.cells)"""


def is_foreign(url: str) -> bool:
    """Whether the address is beyond this machine."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in ("127.0.0.1", "localhost")


@contextmanager
def front_end(
    kind: str, folder: Path, cache: Path | None = None
) -> Iterator[Callable[[str], AbstractContextManager[Sheet]]]:
    """A server for the folder's notebooks and a browser; gives `opened`, which shows one in a fresh window.

    Playwright runs an event loop until the end, which would disturb other tests: use this once in a test file.
    """
    with chromium() as browser, Server(kind, folder, cache) as server:

        @contextmanager
        def opened(notebook: str) -> Iterator[Sheet]:
            context = browser.new_context(viewport=WINDOW)
            try:
                sheet = Sheet(context.new_page(), notebook, server)
                sheet.goto()
                yield sheet
                sheet.end_kernel()
            finally:
                context.close()

        yield opened
