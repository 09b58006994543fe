"""How Jupyter's server reads and writes the course's notebooks: one that no kernel runs opens with its last pictures.

    jupyter lab --ServerApp.contents_manager_class=tx_helpers.contents.Contents

`make lab` and the environment that `make setup` makes do so. `tx_helpers.opening` says what happens to a notebook.
"""

from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from tx_helpers.opening import put_to_sleep, without_the_line


class Contents(AsyncLargeFileManager):
    """The server's own files; opening puts a notebook to sleep, a refresh beside its kernel changes nothing."""

    async def get(self, path: str, *given: Any, **options: Any) -> dict[str, Any]:
        model = await super().get(path, *given, **options)
        if model["type"] == "notebook" and model.get("content") and not await self._runs(path):
            put_to_sleep(model["content"])
        return model

    async def save(self, model: dict[str, Any], path: str = "") -> dict[str, Any]:
        if model.get("type") == "notebook" and model.get("content"):
            without_the_line(model["content"])
        return await super().save(model, path)

    async def _runs(self, path: str) -> bool:
        """Whether a kernel runs for this notebook, whose widgets then live."""
        sessions = await self.parent.session_manager.list_sessions() if self.parent else []
        return any(session["path"].strip("/") == path.strip("/") for session in sessions)
