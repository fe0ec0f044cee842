"""Edits that the failure of a run speaks for: one module a kind of mistake, `candidates` the best first."""
