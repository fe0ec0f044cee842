"""SKILL.md and llms.txt, made of the words that the server says of its tools."""

from __future__ import annotations

from diagnose.mcp.texts import texts

_HEAD = """\
---
name: diagnose
description: {about}
---
# diagnose

{trust}

Without the server's tools (`diagnose mcp`), the command line gives the same answers:

| tool | command |
|---|---|
| `diagnose` | `diagnose --format json [--source DIR] FILE`, or the traceback on standard input |
| `check` | `diagnose check --format json PATH...` |
| `prove` | `diagnose fix --gpus 2 --format json SCRIPT ARGS` |
| `remember` | `diagnose remember --fixed-by TEXT FILE` |
| `recall` | the answer's `seen` |
"""
_LLMS = """\
# diagnose

> {about}

{trust}

{tools}

## Docs

- [Which command?](docs/what-to-type.md)
- [JSON and exit status](docs/json.md)
- [The server for agents](docs/mcp.md)
- [Checking](docs/checking.md)
- [Fixing](docs/fixing.md)
- [Limits](docs/limits.md)
"""


def skill() -> str:
    """SKILL.md: when to use which tool, and the command that does the same."""
    words = texts()
    parts = [_HEAD.format(about=words.about, trust=words.trust)]
    parts += [f"## {name}: {tool.title}\n\n{tool.about}\n" for name, tool in words.tools.items()]
    return "\n".join(parts)


def llms() -> str:
    """llms.txt: what diagnose is for, its tools, and where its docs are."""
    words = texts()
    tools = "\n".join(f"- {name}: {tool.about}" for name, tool in words.tools.items())
    return _LLMS.format(about=words.about, trust=words.trust, tools=tools)
