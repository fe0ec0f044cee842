"""The subcommands, one module each; each only brings input to the pipeline and prints the answer."""
