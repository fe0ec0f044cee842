m = torch.cat([p.to(m.device), m], 1)
