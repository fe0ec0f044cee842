"""``diagnose serve``: the command, importable without Flask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command("serve", short_help="Serve the web page and the HTTP API.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="Port."
)
@click.option(
    "--max-bytes",
    default=5 * 1024 * 1024,
    show_default=True,
    type=click.IntRange(min=1),
    help="Largest text that is diagnosed.",
)
@click.option("--workers", type=click.IntRange(min=1), help="gunicorn processes.")
@click.option(
    "--casebase",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Compiled case base to answer from.",
)
@click.option(
    "--store",
    envvar="DIAGNOSE_STORE",
    metavar="LOCATION",
    help="Where reports are stored: a file, or the URL of a PostgreSQL database; none for nowhere. "
    "By default a file among your own data.",
)
@click.option(
    "--access",
    type=click.Choice(["open", "read", "closed"]),
    default="open",
    show_default=True,
    help="What needs a token (`diagnose store issue`): open nothing, read all that writes to the "
    "store, closed reading too.",
)
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="Address or network of the proxy in front, whose X-Forwarded- headers count.",
)
@click.option(
    "--hops",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many proxies there are in a row, exactly.",
)
@click.option(
    "--user-header",
    metavar="NAME",
    help="The header in which the proxy names whom it has let in; they need no token, but to delete.",
)
@click.option(
    "--rate",
    metavar="RATE",
    help="How many requests one address may make, such as '120 per minute'; with a store, of all workers.",
)
@click.option(
    "--log", is_flag=True, help="Log each request as a line of JSON, without what was sent."
)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many reports are kept; beyond, the dullest go.",
)
@click.option(
    "--webhook",
    envvar="DIAGNOSE_WEBHOOK",
    metavar="URL",
    help="Where a message is sent about each new failure and each regression, as Slack takes it.",
)
def serve_command(
    host: str,
    port: int,
    max_bytes: int,
    workers: int | None,
    casebase: Path | None,
    store: str | None,
    **settings: Any,
) -> None:
    """Serve the page to paste a traceback into, and the HTTP API under /api/v1.

    What people paste is there for an hour, without secrets, and for good when they save it. Put a reverse
    proxy with TLS and authentication in front of it before you listen on anything but this machine.
    """
    from diagnose.memory.lookup import location
    from diagnose.web.serve import serve

    try:
        serve(
            host,
            port,
            max_bytes=max_bytes,
            workers=workers,
            casebase_path=casebase,
            store=location(store),
            **settings,
        )
    except (ValueError, ImportError) as error:
        raise click.UsageError(str(error)) from error
