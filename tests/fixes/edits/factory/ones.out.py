y = x * torch.ones(3, device=x.device)
