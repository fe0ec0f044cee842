"""The user's own files behind a traceback: found, matched with what was printed, read, never run.

Logs travel and files change: a file is used only where what the traceback prints stands in it.
"""

from diagnose.sources.file import SourceFile
from diagnose.sources.reader import read_cached, read_file
from diagnose.sources.sources import Sources, per_report
from diagnose.sources.trees import Folder, Given

__all__ = ["Folder", "Given", "SourceFile", "Sources", "per_report", "read_cached", "read_file"]
