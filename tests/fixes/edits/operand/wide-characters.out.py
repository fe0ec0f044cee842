y = 名前 + bé.c.to(名前.device)
