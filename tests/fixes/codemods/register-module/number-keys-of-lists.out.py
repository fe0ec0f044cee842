refused: the key 0 is no text, and a ModuleDict's keys are
