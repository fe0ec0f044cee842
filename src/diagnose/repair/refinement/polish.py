"""A patch that runs, made better: without what it does not need, and without a GPU that it writes down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple, TypeVar

from diagnose.bulkhead import guarded
from diagnose.repair.model import Candidate, Level, Proof, Ran, Terms
from diagnose.repair.patch import Patch, patch_of
from diagnose.repair.refinement.better_places import KNOWING, better_placed
from diagnose.repair.refinement.device_literals import General, general
from diagnose.repair.refinement.minimization import trimmed
from diagnose.repair.refinement.shard_transfers import sending
from diagnose.repair.runs.runner import Runner
from diagnose.repair.verification.levels import passes
from diagnose.repair.verification.proof import Reference

T = TypeVar("T")

#: Guards that object to nothing but the device's name in an edit: that GPU is not there without a GPU.
_WRITTEN_DOWN = frozenset({"other-gpu", "numbered", "literal", "unnamed", "gpus-0", "gpus-1"})


class Node(NamedTuple):
    """Edits that were kept so far, and how the program fails with them."""

    applied: tuple[Candidate, ...]
    texts: Mapping[str, str]
    ran: Ran

    @property
    def patch(self) -> tuple[Mapping[str, str], Ran, tuple[Candidate, ...]]:
        """What a proof looks at."""
        return self.texts, self.ran, self.applied


class Polish:
    """Tries other forms of a patch.

    Args:
        runner: runs the program.
        gpus: on how many GPUs.
        reference: proves a patch.
    """

    def __init__(self, runner: Runner, gpus: int, reference: Reference) -> None:
        self._runner = runner
        self._gpus = gpus
        self._reference = reference

    def trimmed(self, node: Node, proof: Proof) -> tuple[Node, Proof]:
        """A patch without the places without which as much is known of it."""
        tried = [node.texts]  # one form of a line can lead to another, and that one back
        while (shorter := self._trimmed(node, tried, proof.level)) is not None:
            node, proof = shorter
        return node, proof

    def _trimmed(
        self, node: Node, tried: list[Mapping[str, str]], level: Level
    ) -> tuple[Node, Proof] | None:
        """A patch without one of its places, of the same level; none that was ``tried``."""
        patches = self._runner.workspace.patches(node.texts)
        for other in guarded("polishing", lambda: list(trimmed(patches)), []):
            if other.texts in tried:
                continue
            tried.append(other.texts)
            self._runner.aim("form", file=other.file)
            ran = self._runner.run(other.texts, Terms(self._gpus))
            if not ran.passed:
                continue
            found = self._reference.prove(other.texts, ran, node.applied)
            if found.level == level:
                applied = tuple(one for one in node.applied if one.file in other.texts)
                return Node(applied, other.texts, ran), found
        return None

    def told(self, node: Node) -> tuple[Node, Proof] | None:
        """A patch that writes down a GPU, with what the program itself calls its device instead, proven."""
        return self._general(node, told=True)

    def sent(self, node: Node, proof: Proof) -> tuple[Node, Proof] | None:
        """A patch that moves something in a ``forward``, with the program sending it there, if as much is
        known of that."""
        folder = self._runner.workspace.folder
        for file, text in node.texts.items():
            across = {
                int(one.rpartition(":")[2])
                for one in node.ran.across
                if one.startswith(f"{folder / file}:")
            }
            for other in self._forms(partial(sending, across=across), file, text):
                if (found := self._proven(node, file, other, proof.level)) is not None:
                    return found
        return None

    def otherwise(
        self, node: Node, proof: Proof, form: Callable[[Patch], Iterator[str]]
    ) -> tuple[Node, Proof] | None:
        """A patch in the first other form of which as much is known."""
        for file, text in node.texts.items():
            for other in self._forms(form, file, text):
                if (found := self._proven(node, file, other, proof.level)) is not None:
                    return found
        return None

    def mended(self, node: Node, proof: Proof) -> tuple[Node, Proof] | None:
        """A patch to which guards object only for the GPU that it writes down, with another expression of
        the device in its place, proven."""
        against = {guard.id for guard in proof.guards if guard.holds is False} - {"agreed"}
        if against & KNOWING and (better := self._mended(node)) is not None:
            return better
        if not against or against - _WRITTEN_DOWN:
            return None
        return self._general(node)

    def _mended(self, node: Node) -> tuple[Node, Proof] | None:
        """A patch with one of its moves in a better place, proven."""
        for file, text in node.texts.items():
            for other in self._forms(better_placed, file, text):
                if (found := self._proven(node, file, other)) is not None:
                    # A fetch stays with what puts it away, though the program runs without.
                    more = len(other.splitlines()) > len(text.splitlines())
                    return found if more else self.trimmed(*found)
        return None

    def _proven(
        self, node: Node, file: str, text: str, least: Level = "passes"
    ) -> tuple[Node, Proof] | None:
        """A patch with another text of a file, if at least so much is known of that."""
        texts = {**node.texts, file: text}
        self._runner.aim("form", file=file)
        ran = self._runner.run(texts, Terms(self._gpus))
        patch = texts, ran, node.applied
        if not ran.passed or not passes(self._reference.doubts(*patch), least):
            return None
        proof = self._reference.prove(*patch)
        return (Node(node.applied, texts, ran), proof) if passes(proof, least) else None

    def _forms(self, form: Callable[[Patch], Iterator[T]], file: str, text: str) -> list[T]:
        """The forms of an edited file; a fault of ours costs these, and not the patch."""
        patch = patch_of(self._runner.workspace.text(file), text)
        return guarded("polishing", lambda: list(form(patch)), list[T]())

    def _general(self, node: Node, *, told: bool = False) -> tuple[Node, Proof] | None:
        for file, text in node.texts.items():
            for other in self._forms(partial(general, told=told), file, text):
                applied = tuple(
                    one._replace(patch=_renamed(one.patch, other)) if one.file == file else one
                    for one in node.applied
                )
                renamed = node._replace(applied=applied)
                found = self._proven(renamed, file, other.text)
                if found is not None:
                    return found
        return None


def _renamed(diff: str, other: General) -> str:
    """A diff with another row in the place of one; also where the diff of a later edit shows it."""
    for sign in "+ -":
        diff = diff.replace(f"\n{sign}{other.row}", f"\n{sign}{other.told}")
    return diff
