refused: mask is only bound by the statement that would ask for its device
