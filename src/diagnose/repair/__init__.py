"""Patched, run, proven: a program that fails of a placement error is edited until it runs.

The program runs in processes of its own (`runs`), on simulated GPUs and on a copy of the user's files
(`workspace`), and is looked at meanwhile (`observers`). The answer to its failure proposes edits
(`synthesis`); each is tried (`search`) and made better (`refinement`), and what runs to its end has to
prove itself (`validation`, `verification`) against the same program run without device checks: that one
computes what its author meant.
"""

from diagnose.repair.model import Candidate, Level, Proof, Ran, Repair

__all__ = ["Candidate", "Level", "Proof", "Ran", "Repair"]
