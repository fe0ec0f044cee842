# spot: optimizer.load_state_dict(ckpt["optimizer"])
if resume:
    optimizer.load_state_dict(ckpt["optimizer"])
    for state in optimizer.state.values():
        for key, value in state.items():
            if key != "step" and hasattr(value, "to"):
                state[key] = value.to(device)
    start = ckpt["epoch"]
