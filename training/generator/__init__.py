"""Programs that work, mistakes of placement planted in them, and what the two halves give when run."""
