"""The running IPython, and what it calls its cells."""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False  # installing must cost next to nothing
if TYPE_CHECKING:
    from typing import Any


def running() -> Any:
    """IPython's shell; None where none runs. Nothing is imported for it, and no module is asked for what it
    makes when it is asked (newer releases' ``IPython.get_ipython`` is such a name)."""
    ipython = sys.modules.get("IPython")
    current = vars(ipython).get("get_ipython") if type(ipython) is ModuleType else None
    if current is not None:
        return current()
    core = sys.modules.get("IPython.core.interactiveshell")
    shell = vars(core).get("InteractiveShell") if type(core) is ModuleType else None
    return shell.instance() if shell is not None and shell.initialized() else None


def name_cells(error: BaseException) -> None:
    """Calls the cells in a traceback as IPython calls them (``Cell In[5]``), in all answers from now on."""
    said = getattr(getattr(running(), "compile", None), "format_code_name", None)
    if said is None:
        return
    from diagnose import paths
    from diagnose.hooks.introspection import traced

    files = {one.tb_frame.f_code.co_filename for one in traced(error)}
    names = {file: said(file) for file in files}
    paths.name_cells({file: " ".join(name) for file, name in names.items() if name})
