h = x + torch.zeros(1, 4, 8).to(x.device)
