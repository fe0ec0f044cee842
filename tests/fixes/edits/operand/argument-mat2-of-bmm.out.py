s = torch.bmm(q, k.to(q.device))
