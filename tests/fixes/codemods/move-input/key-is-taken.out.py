refused: the loop's variable is not used after it is moved
