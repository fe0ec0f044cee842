# move-tensor-at-line
y = noise + cfg.noise_offset * torch.randn(4)
