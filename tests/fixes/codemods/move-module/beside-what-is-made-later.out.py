refused: student gets its value below that line
