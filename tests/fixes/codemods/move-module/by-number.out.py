refused: the file is a library's, and leaves the choice of a GPU to its callers
