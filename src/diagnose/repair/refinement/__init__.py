"""A patch that runs, made better: the better place, no edit that it does not need, no GPU by its number."""
