"""Patched, run, proven: a program that fails of a placement error is edited until it runs.

The program runs in processes of its own (`running`), on simulated GPUs and on a copy of the user's files
(`workspace`), and is looked at meanwhile (`watching`). The answer to its failure proposes edits
(`proposing`); each is tried (`searching`) and made better (`improving`), and what runs to its end has to
prove itself (`guarding`, `proving`) against the same program run without device checks: that one computes
what its author meant.
"""

from diagnose.repairing.model import Candidate, Level, Proof, Ran, Repair

__all__ = ["Candidate", "Level", "Proof", "Ran", "Repair"]
