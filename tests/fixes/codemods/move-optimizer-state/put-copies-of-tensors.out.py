# cause: optimizer-state
# spot: opt.state[w] = {k: v.clone() if torch.is_tensor(v) else v for k, v in saved[w].items()}
for w in net.parameters():
    opt.state[w] = {k: v.clone().to(w.device) if torch.is_tensor(v) else v for k, v in saved[w].items()}
