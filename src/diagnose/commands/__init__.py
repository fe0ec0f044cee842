"""The subcommands, one module each; each only brings input to the pipeline and prints the answer."""

from __future__ import annotations

#: Name -> (module, attribute, line of the overview). Subcommands are imported when they are called:
#: an answer must not wait for Flask, SQLAlchemy or torch.
COMMANDS = {
    "answer": ("diagnose.commands.answer", "answer", "Diagnose files or standard input (default)."),
    "cases": ("diagnose.commands.cases", "cases", "Draft, check, build, list and show incidents."),
    "check": (
        "diagnose.commands.check",
        "check",
        "Find placement errors in code, before it fails.",
    ),
    "evaluate": ("diagnose.commands.evaluate", "evaluate", "Measure answers on labelled reports."),
    "explain": ("diagnose.commands.explain", "explain", "Explain a cause, with tested code."),
    "fix": ("diagnose.commands.fix", "fix", "Repair a script on simulated GPUs, and prove it."),
    "run": ("diagnose.hooks.__main__", "run_command", "Run a script; diagnose it if it dies."),
    "scan": ("diagnose.commands.scan", "scan", "Group the failures of many logs."),
    "search": ("diagnose.commands.search", "search", "Find incidents and causes by symptom words."),
    "serve": ("diagnose.web.command", "serve_command", "Serve the web page and the JSON API."),
    "simulate": ("diagnose.commands.simulate", "simulate", "Run a script on simulated GPUs."),
    "verify": (
        "diagnose.commands.verify",
        "verify_command",
        "Print or run a verification program.",
    ),
    "why": ("diagnose.commands.why", "why", "Tell how an answer comes about, for contributors."),
}
DEFAULT = "answer"
