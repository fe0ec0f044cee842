"""Proof that a fix works: snippets for the user's own GPUs, and simulated GPUs."""
