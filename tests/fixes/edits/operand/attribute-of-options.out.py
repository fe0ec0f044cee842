y = noise + (cfg.noise_offset * torch.randn(4)).to(noise.device)
