refused: x would follow itself
