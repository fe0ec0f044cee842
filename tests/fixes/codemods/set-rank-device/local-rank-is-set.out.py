refused: it is given a rank of its own machine, or no name
