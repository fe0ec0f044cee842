refused: x.cuda() and w.to(d) are placed already
