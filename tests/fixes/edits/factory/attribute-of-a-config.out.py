y = cfg.scale * torch.ones(3, device=cfg.scale.device)
