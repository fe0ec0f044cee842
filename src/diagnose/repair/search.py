"""The loop: an edit is kept when the failure goes or moves on, and dropped otherwise."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence

from diagnose.bulkhead import collecting, guarded
from diagnose.fixes.diff import patched
from diagnose.repair.comparison import diff_of
from diagnose.repair.model import (
    LEVELS,
    SOURCES,
    Candidate,
    Limits,
    Outcome,
    Proof,
    Ran,
    Repair,
    Source,
    Terms,
    further,
)
from diagnose.repair.patch import patch_of
from diagnose.repair.refinement.polish import Node, Polish
from diagnose.repair.runs.runner import Runner
from diagnose.repair.synthesis.device_roots import rooting
from diagnose.repair.validation.lost_writes import loses_a_write
from diagnose.repair.verification.levels import DECIDED, passes, settled, unopposed
from diagnose.repair.verification.proof import Reference

#: What Python takes for the end of a line, and a diff does not.
_BARE = re.compile(r"\r(?!\n)")
#: So many single edits are tried beside a patch of several.
_ALONE = 16
#: So many edits are tried after a patch that passes, for one that is proven.
_AGREEING = 12
#: After so many patches that run but are not proven, somebody else is asked for a better one.
_BETTER = 4


class Search:
    """One attempt to repair a program.

    Args:
        runner: runs it.
        gpus: on how many GPUs.
        limits: how much is tried.
        alternatives: of a proven patch a shorter one is looked for, and one edit in place of several.
    """

    def __init__(
        self,
        runner: Runner,
        gpus: int,
        limits: Limits,
        *,
        alternatives: bool = False,
    ) -> None:
        self._runner = runner
        self._gpus = gpus
        self._limits = limits
        self._alternatives = alternatives
        self._tried = 0
        self._unfit: set[str] = set()
        self._last = limits.tries
        self._known: dict[tuple[tuple[str, str], ...], Node | None] = {}
        self._end = 0.0

    def repair(self, proposed: Sequence[Candidate] = ()) -> Repair:
        """Runs the program as it is, and edits it until it runs.

        Args:
            proposed: edits to try before those of the failure's own answer.
        """
        started = time.monotonic()
        self._end = started + self._limits.seconds
        self._runner.aim("as-it-is")
        first = self._runner.run({}, Terms(self._gpus), proposing=True)
        if first.passed:
            return self._end_of("nothing-to-fix", first, started)
        if first.failure is None or not first.failure.placement:
            return self._end_of("not-reproducible", first, started)
        root = Node((), {}, first._replace(candidates=(*proposed, *first.candidates)))
        with collecting() as missing:
            best, proof, furthest = self._search(root)
        outcome: Outcome = "not-repaired" if best is None else "repaired"
        repair = self._end_of(outcome, first, started, best or furthest, proof)
        return repair._replace(missing=tuple(f"{one.what}: {one.fault}" for one in missing))

    def _search(self, root: Node) -> tuple[Node | None, Proof | None, Node]:
        """The best patch that runs, with its proof, and the node that came furthest."""
        reference = Reference(self._runner, self._gpus)
        polish = Polish(self._runner, self._gpus, reference)
        best, proof, furthest = self._found(root, reference, polish)
        if best is not None and proof is not None and passes(proof):
            # Edited is where the device is told.
            best, proof = polish.otherwise(best, proof, rooting) or (best, proof)
            kept, known = best, proof
            proof = guarded("proof", lambda: unopposed(known, reference.added(kept.texts)), known)
        return best, proof, furthest

    def _found(
        self, root: Node, reference: Reference, polish: Polish
    ) -> tuple[Node | None, Proof | None, Node]:
        """What `_search` gives, as it was proposed."""
        best: Node | None = None
        proof: Proof | None = None
        passing: tuple[Node, Proof] | None = None
        furthest = root
        for nodes in self._passes(root):
            left = _BETTER
            for node in nodes:
                if not node.ran.passed:
                    if len(node.applied) > len(furthest.applied):
                        furthest = node
                    continue
                node = self._lean(node)
                self._runner.aim("proving")
                found = reference.doubts(*node.patch)
                if passes(found):
                    found, better = self._finished(node, root, reference, polish)
                else:
                    better = polish.mended(node, found)
                proven = better is not None and better[1].level == "proven"
                if better is not None and proven and (passing is None or not _at_use(better[0])):
                    return *better, furthest
                if better is not None and passing is None:
                    passing, self._last = better, self._tried + _AGREEING
                if proof is None or _worth(found) > _worth(proof):
                    best, proof = node, found
                if not (left := left - 1):
                    break
        if passing is not None:
            return *passing, furthest
        if best is not None and proof is not None:
            proof = settled(proof if proof.whole else reference.prove(*best.patch))
        return best, proof, furthest

    def _finished(
        self, node: Node, root: Node, reference: Reference, polish: Polish
    ) -> tuple[Proof, tuple[Node, Proof] | None]:
        """The proof of a patch against which its run tells nothing, and its best form."""
        if (better := polish.told(node)) is not None:
            return better[1], better
        found = reference.prove(*node.patch)
        better = polish.mended(node, found) if found.level != "proven" else None
        if better is not None or not passes(found):
            return found, better
        best = node, found
        if found.level != "proven" or self._alternatives:
            best = polish.trimmed(*best)
            if len(node.applied) > 1 and self._places(best[0]) > 1:
                best = self._alone(root, reference, polish) or best
        return found, polish.sent(*best) or best

    def _places(self, node: Node) -> int:
        """At how many places a node's files differ from the user's."""
        return sum(len(one.hunks) for one in self._runner.workspace.patches(node.texts).values())

    def _alone(self, root: Node, reference: Reference, polish: Polish) -> tuple[Node, Proof] | None:
        """One edit that is proven where the first patch that was takes several: these may follow one
        mistake from line to line."""
        left = _ALONE
        for candidate in sorted(root.ran.candidates, key=lambda one: SOURCES.index(one.source)):
            texts = self._edited(root, candidate)
            key = tuple(sorted((texts or {}).items()))
            if texts is None or (key in self._known and self._known[key] is None):
                continue
            if key not in self._known:
                if not left or time.monotonic() > self._end:
                    break
                left -= 1
                self._known[key] = self._try(root, candidate, texts)
            node = self._known[key]
            if node is None or not node.ran.passed or self._places(node) > 1:
                continue
            if not passes(reference.doubts(*node.patch)):
                continue
            proof = reference.prove(*node.patch)
            if passes(proof):
                return polish.trimmed(node, proof)
        return None

    def _passes(self, root: Node) -> Iterator[Iterator[Node]]:
        """All nodes, each once: first those of what the answer proposes, then with what else does, who
        knows less. Each gets its part of the tries."""
        for number, _ in enumerate(SOURCES, 1):
            most = self._limits.tries * number // len(SOURCES)
            yield self._nodes(root, SOURCES[:number], most)

    def _nodes(self, node: Node, sources: Sequence[Source], most: int) -> Iterator[Node]:
        """Depth first, best first: nodes that run, and those that come further. What is new in this pass
        comes before what the passes before it tried."""
        for candidate in sorted(node.ran.candidates, key=lambda one: one.source != sources[-1]):
            if candidate.source not in sources:
                continue
            if self._tried >= min(most, self._last) or time.monotonic() > self._end:
                return
            texts = self._edited(node, candidate)
            if texts is None:
                continue
            key = tuple(sorted(texts.items()))
            new = key not in self._known
            if new:
                self._known[key] = self._try(node, candidate, texts)
            tried = self._known[key]
            if tried is None or (not new and tried.applied != (*node.applied, candidate)):
                continue
            if new:
                yield tried
            if not tried.ran.passed and len(tried.applied) < self._limits.depth:
                yield from self._nodes(tried, sources, most)

    def _lean(self, node: Node) -> Node:
        """A node that runs, without the edits that it runs without too: they only moved the failure on."""
        for candidate in node.applied[:-1]:
            rest = tuple(one for one in node.applied if one is not candidate)
            if (texts := self._of(rest)) is None:
                continue
            self._runner.aim("without", **candidate._asdict())
            ran = self._runner.run(texts, Terms(self._gpus))
            if ran.passed:
                node = Node(rest, texts, ran)
        return node

    def _of(self, applied: Sequence[Candidate]) -> dict[str, str] | None:
        """The files with some edits, None where one of them needs another."""
        node = Node((), {}, Ran(0))
        for candidate in applied:
            if (texts := self._edited(node, candidate)) is None:
                return None
            node = node._replace(texts=texts)
        return dict(node.texts)

    def _edited(self, node: Node, candidate: Candidate) -> dict[str, str] | None:
        """The files of a node with one more edit, None where it cannot be made."""
        try:
            before = node.texts.get(candidate.file) or self._runner.workspace.text(candidate.file)
        except OSError:
            return None
        try:
            text = patched(before, candidate.patch)
        except ValueError:
            self._unfit.add(candidate.file)
            return None
        if self._runner.workspace.edited(candidate.file, text) is None:
            return None
        if loses_a_write(patch_of(before, text)):
            return None
        return {**node.texts, candidate.file: text}

    def _try(self, node: Node, candidate: Candidate, texts: Mapping[str, str]) -> Node | None:
        """A node with one more edit, None where it does not help."""
        self._tried += 1
        most = self._limits.tries
        self._runner.aim("trying", number=self._tried, most=most, **candidate._asdict())
        ran = self._runner.run(texts, Terms(self._gpus), proposing=True, past=node.ran)
        if not ran.passed and not _further(node.ran, ran):
            return None
        return Node((*node.applied, candidate), texts, ran)

    def _end_of(
        self,
        outcome: Outcome,
        first: Ran,
        started: float,
        node: Node | None = None,
        proof: Proof | None = None,
    ) -> Repair:
        node = node or Node((), {}, first)
        workspace = self._runner.workspace
        before = {file: workspace.document(file) for file in node.texts}
        after = {file: workspace.edited(file, text) or "" for file, text in node.texts.items()}
        return Repair(
            outcome,
            first,
            node.applied,
            diff_of(before, after),
            after,
            proof,
            node.ran if outcome == "not-repaired" else None,
            self._runner.count,
            time.monotonic() - started,
            unfit=tuple(one for one in sorted(self._unfit) if _BARE.search(workspace.text(one))),
        )


def _further(before: Ran, after: Ran) -> bool:
    """Whether a run failed of placement again, and later than the one before."""
    return after.failure is not None and further(before, after.failure, after.calls)


#: The guards that object to where a program computes then: worse than where an edit stands.
_COMPUTES = frozenset({"homes", "on-gpu", "to-host", "put-away", "gives-up"})


def _at_use(node: Node) -> bool:
    """Whether a patch only moves values where they are used: no reason to leave one that goes further back,
    though the report points there, for that is where it failed."""
    return all(one.kind == "move-tensor-at-line" for one in node.applied)


def _worth(proof: Proof) -> tuple[int, int, int]:
    against = [one.id for one in proof.guards if one.holds is False and one.id not in DECIDED]
    elsewhere = sum(one in _COMPUTES for one in against)
    return LEVELS.index(proof.level), -elsewhere, -len(against)
