y = x * torch.Tensor([1]).to(x.device)
