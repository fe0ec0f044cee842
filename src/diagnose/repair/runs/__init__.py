"""Runs of a program, each in a process of its own, on GPUs of its number."""
