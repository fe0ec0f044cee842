y = (torch.rand(3).to(real.device) * real + fake)
