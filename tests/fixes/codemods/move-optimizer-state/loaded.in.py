# spot: optimizer.load_state_dict(ckpt["optimizer"])
if resume:
    optimizer.load_state_dict(ckpt["optimizer"])
    start = ckpt["epoch"]
