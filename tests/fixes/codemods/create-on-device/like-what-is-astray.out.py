refused: it is made where what it resembles is, and that is not known to belong elsewhere
