"""Build hook: compile kb/ into the SQLite file that the package reads at run time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CasebaseBuildHook(BuildHookInterface[Any]):
    """Compiles the case base for wheels and for editable installs alike."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before files are collected."""
        root = Path(self.root)
        sys.path.insert(0, str(root / "src"))
        from diagnose.compiling.build import build

        build(root / "kb", root / "src" / "diagnose" / "casebase.sqlite")
