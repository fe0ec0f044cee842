"""What torch, model libraries and Python's own do to placement."""
