refused: a ModuleDict's keys have no dot and are not empty
