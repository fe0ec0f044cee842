"""Proof that a fix works: snippets to read and run anywhere, a program that watches a whole script."""
