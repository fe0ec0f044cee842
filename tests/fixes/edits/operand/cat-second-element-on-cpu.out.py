m = torch.cat([p, m.to(p.device)], 1)
