"""`Sources`: the files behind the frames of one report, and those that they import."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath

from diagnose.model import Frame, Report, UnusedSource
from diagnose.patterns import in_package
from diagnose.sources.file import SourceFile
from diagnose.sources.match import matches, standing
from diagnose.sources.reader import Lines, Reader, UnusableError, read_file
from diagnose.sources.trees import Folder, Tree, components

#: Files of one name that are read to find the one that a frame was printed from.
_MOST_CANDIDATES = 50
#: Frames of one file that are compared with it.
_MOST_FRAMES = 50


class Sources:
    """Finds the files of one report, and remembers which were used and which could not be.

    A file is looked for at its printed path, then in the trees, where the line that the traceback prints
    decides between files of the same name. Nothing that is found is ever run.

    Args:
        trees: folders that somebody named, or what came with a request.
        read: reads a file at its printed path; no file is looked for there if None.
    """

    def __init__(self, trees: Sequence[Tree] = (), read: Reader | None = read_file) -> None:
        self._trees = tuple(trees)
        self._read = read
        self._frames: dict[str, dict[tuple[object, ...], Frame]] = {}
        self._found: dict[str, SourceFile | None] = {}
        self._paths: dict[str, SourceFile] = {}
        self._used: dict[str, SourceFile] = {}
        self._unused: dict[str, UnusedSource] = {}
        self._known: dict[str, Lines | None] = {}

    def about(self, frames: Iterable[Frame]) -> None:
        """Tells all frames of the report: of the files of one name that is taken which fits most."""
        for frame in frames:
            known = self._frames.setdefault(frame.file, {})
            place = (frame.line, frame.function, frame.code)
            if place not in known and len(known) < _MOST_FRAMES:
                known[place] = frame
                self._found.pop(frame.file, None)

    def of(self, frame: Frame) -> SourceFile | None:
        """The file of a frame, None where none is found in which its line stands as printed.

        Of a frame without its line the function of that name must stand around the line of that number.
        """
        self.about([frame])
        file = self._file(frame.file)
        if file is None:
            return None
        if not matches(frame, file.lines):
            self._refuse(file.name, _changed(file.path, frame))
            return None
        return self._use(file)

    def imported(self, module: str, by: SourceFile, level: int = 0) -> SourceFile | None:
        """The user's own file that an import names.

        It is looked for where Python would look: beside the file that imports it, above its package, beside
        the other files of the report, and in the trees; never among installed packages or Python's own.

        Args:
            module: dotted name, ``""`` in ``from . import x``.
            by: the file in which the import stands.
            level: how many dots stand before the name.
        """
        from diagnose.sources import imports

        path = imports.find(module, by, level, self._beside(by), self._trees, self._at)
        if path is None or in_package(path) is not None:
            return None
        known = self._paths.get(_same(path))
        lines = self._at(path) if known is None else known.lines
        return None if lines is None else self._use(known or SourceFile(path, path, lines))

    def library(self, frame: Frame) -> SourceFile | None:
        """The file of an installed package that a frame names, where the line stands in it as printed:
        at its printed path, or in the packages that are installed here."""
        from diagnose.sources import installed

        at_path = self._lines(frame.file, frame.file) if self._read is not None else None
        if at_path is not None and matches(frame, at_path):
            return self._use(SourceFile(frame.file, frame.file, at_path))
        for path in installed.places(frame.file) if self._read is not None else ():
            lines = self._lines(frame.file, path)
            if lines is not None and frame.code and matches(frame, lines):
                return self._use(SourceFile(frame.file, path, lines))
        return None

    def claimed(self, report: Report) -> Report:
        """The report, a library's files as own code where they lie in a folder that somebody named, under
        the path that they have there: a frame of an installed package is that of its source tree.

        What torch does is known without its source."""
        self.about(report.frames)
        return report._replace(frames=tuple(map(self._claimed, report.frames)))

    def _claimed(self, frame: Frame) -> Frame:
        if frame.library is None or not self._trees:
            return frame
        if (installed := in_package(frame.file)) is not None:
            return frame if frame.library == "torch" else self._cloned(frame, installed) or frame
        file = self.of(frame)
        path = PurePath(_same(file.path)) if file is not None else None
        roots = (_same(one.root) if one.root else "" for one in self._trees)
        within = path is not None and any(map(path.is_relative_to, roots))
        return frame._replace(library=None) if within else frame

    def _cloned(self, frame: Frame, installed: str) -> Frame | None:
        """The frame of an installed file as one of the package's source tree, whose layout is the package's
        own (``pkg/``, ``src/pkg/``). A release that is not the tree's has the line elsewhere: it is taken
        where it stands once in the function of that name."""
        parts = components(installed)
        for tree in self._trees:
            for path in tree.ending(parts)[:_MOST_CANDIDATES]:
                if tree.agreement(parts, path) < len(parts):
                    break
                lines = self._lines(path, path, tree) if in_package(path) is None else None
                if lines is not None and (found := standing(frame, lines)) is not None:
                    return found._replace(file=path, library=None)
        return None

    @property
    def used(self) -> tuple[SourceFile, ...]:
        """The files that were handed out, in that order."""
        return tuple(self._used.values())

    @property
    def unused(self) -> tuple[UnusedSource, ...]:
        """The files that were asked for and not handed out, where there is a reason that helps: a file that
        is not on this machine is none unless there were folders to look in."""
        crowded = [UnusedSource(tree.root, "crowded") for tree in self._trees if not tree.complete]
        return (*self._unused.values(), *crowded)

    # --- finding --------------------------------------------------------------------------------------

    def _file(self, name: str) -> SourceFile | None:
        """The file of that printed name that fits most of its frames."""
        if name not in self._found:
            self._unused.pop(name, None)
            found = self._at_its_path(name) or self._in_trees(name)
            self._found[name] = found
            if found is not None:
                self._unused.pop(name, None)
                self._paths.setdefault(_same(found.path), found)
        return self._found[name]

    def _at_its_path(self, name: str) -> SourceFile | None:
        lines = self._lines(name, name) if self._read is not None else None
        if lines is None:
            return None
        if self._fitting(name, lines):
            return SourceFile(name, name, lines)
        self._refuse(name, _changed(name, self._first(name)))
        return None

    def _in_trees(self, name: str) -> SourceFile | None:
        parts = components(name)
        if not self._trees or name.startswith("<") or not parts:
            return None
        # How many frames fit, how much of the path does, and the file; each file once.
        found: dict[str, tuple[int, int, SourceFile]] = {}
        nearest: str | None = None
        for tree in self._trees:
            for path in tree.ending(parts)[:_MOST_CANDIDATES]:
                nearest = nearest or path
                lines = self._lines(name, path, tree)
                fitting = 0 if lines is None else self._fitting(name, lines)
                if lines is not None and fitting:
                    agreement = tree.agreement(parts, path)
                    found[_same(path)] = (fitting, agreement, SourceFile(name, path, lines))
        best = sorted(found.values(), key=lambda one: one[:2], reverse=True)
        if not best:
            first = self._first(name)
            self._refuse_own(
                name, _changed(nearest, first) if nearest else UnusedSource(name, "absent")
            )
            return None
        if len(best) > 1 and best[0][:2] == best[1][:2]:
            others = tuple(file.path for *rank, file in best if tuple(rank) == best[0][:2])
            self._refuse_own(name, UnusedSource(name, "ambiguous", others=others))
            return None
        return best[0][2]

    def _first(self, name: str) -> Frame:
        return next(iter(self._frames[name].values()))

    def _fitting(self, name: str, lines: Lines) -> int:
        return sum(matches(frame, lines) for frame in self._frames[name].values())

    def _lines(self, name: str, path: str, tree: Tree | None = None) -> Lines | None:
        """The lines of a file; one that cannot be used is noted under the name of the frame's file."""
        try:
            if tree is not None:
                return tree.lines(path)
            return self._read(path) if self._read is not None else None
        except UnusableError as error:
            self._refuse(name, UnusedSource(path, error.reason))
            return None

    def _at(self, path: str) -> Lines | None:
        """The lines of a file at a path that was made from others; each is read once."""
        if path not in self._known:
            looks = (self._lines(path, path, tree) for tree in (*self._trees, None))
            self._known[path] = next((lines for lines in looks if lines is not None), None)
        return self._known[path]

    def _beside(self, by: SourceFile) -> tuple[str, ...]:
        """The paths of the report's own files, the one that imports first, then the outermost frames'."""
        own = (name for name in self._frames if self._first(name).own)
        files = (by, *filter(None, map(self._file, own)))
        return tuple(dict.fromkeys(file.path for file in files))

    def _use(self, file: SourceFile) -> SourceFile:
        return self._used.setdefault(_same(file.path), file)

    def _refuse_own(self, name: str, why: UnusedSource) -> None:
        """A library's file is none that anybody expects in a folder of their own."""
        if self._first(name).own:
            self._refuse(name, why)

    def _refuse(self, name: str, why: UnusedSource) -> None:
        self._unused.setdefault(name, why)


def _changed(path: str, frame: Frame) -> UnusedSource:
    return UnusedSource(path, "changed" if frame.code else "moved", frame.line)


def _same(path: str) -> str:
    """One spelling of a file that may be reached by several."""
    return os.path.normcase(os.path.normpath(path))


def per_report(folders: Sequence[str] = (), *, off: bool = False) -> Callable[[], Sources | None]:
    """Makes the sources of one report after the other, on this machine and in folders that are listed once.

    Args:
        folders: folders or files that somebody named.
        off: whether no file is to be read; the sources are None then.

    Raises:
        DiagnoseError: there is no such folder.
    """
    trees = tuple(map(Folder, folders))
    return lambda: None if off else Sources(trees)
