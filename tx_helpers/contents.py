"""An extension of Jupyter's server: a notebook of the course opens with its last pictures in place of dead widgets.

Where the package is installed, the file of `jupyter_server_config.d` enables it. Whatever manages the server's files
goes on doing so; `tx_helpers.opening` says what happens to a notebook. What fails here is logged, and the notebook
then opens and is saved as without the extension.
"""

import copy
import platform
from typing import Any

from jupyter_client.session import Session
from jupyter_core.utils import ensure_async

from tx_helpers.opening import put_to_sleep, without_the_line

LANGUAGE = {  # as IPython's kernel tells it; to import that kernel here would change what widgets talk through
    "name": "python",
    "version": platform.python_version(),
    "mimetype": "text/x-python",
    "codemirror_mode": {"name": "ipython", "version": 3},
    "pygments_lexer": "ipython3",
    "nbconvert_exporter": "python",
    "file_extension": ".py",
}


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    server.contents_manager.register_pre_save_hook(_keep_no_line)
    server.web_app.settings["contents_manager"] = Contents(server.contents_manager, server)


def _keep_no_line(model: dict[str, Any], **_: Any) -> None:
    without_the_line(model.get("content"))


class Contents:
    """The server's contents manager as the front ends see it: what they open is put to sleep, unless it lives."""

    def __init__(self, manager: Any, server: Any):
        self._manager, self._server = manager, server

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manager, name)

    async def get(self, path: str, *given: Any, **options: Any) -> dict[str, Any]:
        model = await ensure_async(self._manager.get(path, *given, **options))
        try:
            if model["type"] == "notebook" and model.get("content"):
                asleep = copy.deepcopy(model["content"])
                if put_to_sleep(asleep, await self._living(path)):
                    model["content"] = asleep
                    self._name_kernel(asleep["metadata"])
        except Exception:
            self._server.log.exception("tx_helpers: %s may not open with its last pictures", path)
        return model

    def _name_kernel(self, metadata: dict[str, Any]) -> None:
        """Name the kernel as JupyterLab does when it starts: else a notebook that nobody touched asks to be saved."""
        name = metadata.get("kernelspec", {}).get("name")
        if name is None or "version" in metadata.get("language_info", {}):
            return
        spec = self._server.kernel_spec_manager.get_kernel_spec(name)
        metadata["kernelspec"] = {"name": name, "display_name": spec.display_name, "language": spec.language}
        metadata["language_info"] = LANGUAGE

    async def _living(self, path: str) -> set[str]:
        """The ids of what lives in the kernels of this notebook; queue.Empty if one of them does not say so in time."""
        living = set()
        for session in await ensure_async(self._server.session_manager.list_sessions()):
            kernel = self._server.kernel_manager.get_kernel(session["kernel"]["id"])
            if session["path"].strip("/") != path.strip("/") or kernel.execution_state == "starting":
                continue
            own = Session(parent=kernel, key=kernel.session.key)  # else replies go to another client
            client = kernel.client(session=own)
            client.start_channels(shell=False, iopub=False, stdin=False, hb=False)
            try:  # the control channel answers while a cell runs, too
                client.control_channel.send(client.session.msg("comm_info_request", {}))
                living |= set((await ensure_async(client.get_control_msg(timeout=5)))["content"]["comms"])
            finally:
                client.stop_channels()
        return living
