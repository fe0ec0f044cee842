"""The server: the tools with the words of texts.toml, and the pages that answers link to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations

from diagnose import __version__
from diagnose.casebase.store import load
from diagnose.commands.explain import page
from diagnose.mcp.texts import texts
from diagnose.mcp.tools import PLAIN, Settings, Tools
from diagnose.model import Cause, Incident

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_RUNS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)


def server(settings: Settings) -> MCPServer[Any]:
    """The server, with the tools that the settings allow."""
    words = texts()
    made = MCPServer[Any](
        "diagnose",
        version=__version__,
        instructions=f"{words.about}\n{words.trust}",
        tools=list(_tools(settings)),
        log_level="WARNING",
    )

    def explained(kind: str) -> Callable[[str], str]:
        def read(id: str) -> str:
            casebase = load(lang=settings.lang)
            entries: Mapping[str, Mapping[str, Cause | Incident]]
            entries = {"cause": casebase.causes, "incident": casebase.incidents}
            found = entries[kind].get(id)
            if found is None:
                raise ResourceNotFoundError(f"there is no {kind} of this id")
            return page(found, casebase)

        return read

    for kind in ("cause", "incident"):
        made.resource(f"diagnose://{kind}/{{id}}", name=kind, mime_type=PLAIN)(explained(kind))
    return made


def _tools(settings: Settings) -> Iterator[Tool]:
    functions = Tools(settings)
    yield _tool(functions.diagnose, _READS)
    yield _tool(functions.check, _READS)
    if settings.prove:
        yield _tool(functions.prove, _RUNS)
    if settings.store is not None:
        yield _tool(functions.remember, _WRITES)
        yield _tool(functions.recall, _READS)


def _tool(function: Callable[..., Any], annotations: ToolAnnotations) -> Tool:
    """A tool as it is listed: of its schema nothing that the words say already."""
    words = texts().tools[function.__name__]
    tool = Tool.from_function(
        function, title=words.title, description=words.about, annotations=annotations
    )
    schema = {key: value for key, value in tool.parameters.items() if key != "title"}
    schema["properties"] = {
        name: {key: value for key, value in of.items() if key != "title"}
        | {"description": words.parameters[name]}
        for name, of in schema["properties"].items()
    }
    return tool.model_copy(update={"parameters": schema})
