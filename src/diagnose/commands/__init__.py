"""The subcommands, one module each; each only brings input to the pipeline and prints the answer."""

from __future__ import annotations

#: Name -> (module, attribute, line of the overview, task it belongs to). Subcommands are imported when they
#: are called: an answer must not wait for Flask, SQLAlchemy or torch.
COMMANDS = {
    "answer": (
        "diagnose.commands.answer",
        "answer",
        "Diagnose files, folders or standard input (the default).",
        "A job has failed",
    ),
    "run": (
        "diagnose.commands.run",
        "run_command",
        "Run a script, on simulated GPUs too; explain its failure.",
        "A job has failed",
    ),
    "fix": (
        "diagnose.commands.fix",
        "fix",
        "Fix a script and verify the fix on simulated GPUs.",
        "A job has failed",
    ),
    "explain": (
        "diagnose.commands.explain",
        "explain",
        "Explain a cause or an incident, or find one by words.",
        "A job has failed",
    ),
    "remember": (
        "diagnose.commands.remember",
        "remember",
        "Write down what fixed a failure, for the next one.",
        "A job has failed",
    ),
    "check": (
        "diagnose.commands.check",
        "check",
        "Find placement errors in code, before it fails.",
        "Before it fails",
    ),
    "serve": (
        "diagnose.web.command",
        "serve_command",
        "Serve the web page and the JSON API.",
        "For a team",
    ),
    "mcp": (
        "diagnose.mcp.command",
        "mcp_command",
        "Serve coding agents (MCP).",
        "For a team",
    ),
    "store": (
        "diagnose.commands.store",
        "store",
        "Tokens, export, import and size of the store.",
        "For a team",
    ),
    "kb": (
        "diagnose.commands.kb",
        "kb",
        "Draft, check and build incidents; measure answers.",
        "For contributors",
    ),
}
DEFAULT = "answer"

#: Commands of the release before this one, which go with the next one -> what stands in their place.
RENAMED = {
    "cases": "kb",
    "evaluate": "kb evaluate",
    "scan": "answer --group",
    "search": "explain",
    "simulate": "run --simulate",
    "verify": "run --verify",
    "why": "kb why",
}
