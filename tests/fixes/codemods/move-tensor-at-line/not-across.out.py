refused: it edits no definition
