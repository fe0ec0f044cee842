"""``diagnose mcp``: the command, importable without the SDK."""

from __future__ import annotations

from pathlib import Path

import click

from diagnose.commands.shared import LANG
from diagnose.installation import needs
from diagnose.model import Lang


@click.command("mcp")
@click.option(
    "--http", is_flag=True, help="Serve HTTP (/mcp) instead of standard input and output."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8001, show_default=True, type=click.IntRange(1, 65535), help="Port."
)
@click.option(
    "--root",
    "roots",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    metavar="DIR",
    help="Where files are read, by default in the current folder; may be given more than once.",
)
@click.option("--prove", is_flag=True, help="Let agents run scripts on simulated GPUs.")
@click.option(
    "--store",
    envvar="DIAGNOSE_STORE",
    metavar="LOCATION",
    help="Let agents remember and recall failures: a file, or the URL of a PostgreSQL database.",
)
@LANG
def mcp_command(
    http: bool,
    host: str,
    port: int,
    roots: tuple[Path, ...],
    prove: bool,
    store: str | None,
    lang: Lang,
) -> None:
    """Serve coding agents over the Model Context Protocol.

    Files are read in the folders that --root names, and none is written. Over HTTP whoever reaches the
    address can read there: put authentication in front of it.
    """
    try:
        from diagnose.mcp.server import server
        from diagnose.mcp.tools import Settings
    except ModuleNotFoundError as error:
        raise ImportError(needs("The SDK of MCP", "mcp"), name=error.name) from error
    from diagnose.memory.lookup import location

    # A store is the team's wish: that of one's own machine is not taken by default.
    where = location(store) if store else None
    made = server(Settings(roots or (Path.cwd(),), lang, prove, where))
    if http:
        made.run("streamable-http", host=host, port=port)
    else:
        made.run()
