"""Where tensors and modules of a program are made, kept and moved, read from its source; nothing is run."""
