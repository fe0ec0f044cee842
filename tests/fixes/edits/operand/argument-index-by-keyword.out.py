p = torch.gather(input=logp, dim=-1, index=ids.to(logp.device))
