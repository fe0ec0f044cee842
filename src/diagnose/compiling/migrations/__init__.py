"""The revisions of a team's case base.

A change of `diagnose.casebase.schema` that raises ``VERSION`` comes with ``versions/schema_N.py``. Causes,
rules and texts are written whole with every `diagnose kb publish`; a revision has to keep the incidents.
"""

from __future__ import annotations

from pathlib import Path

#: The oldest version that there is a way from.
OLDEST = 4
VERSIONS = Path(__file__).with_name("versions")
