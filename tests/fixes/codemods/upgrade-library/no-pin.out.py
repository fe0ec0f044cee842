refused: no release is pinned
