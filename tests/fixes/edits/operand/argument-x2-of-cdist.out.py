d = torch.cdist(z, centers.to(z.device))
