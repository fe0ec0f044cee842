refused: the cache is asked elsewhere, too
