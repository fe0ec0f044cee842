"""Whether a patch that runs computes what its author meant, on other GPUs and with other switches, too."""
