refused: a ModuleDict has an attribute train of its own
