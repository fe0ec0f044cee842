# spot: torch.randn(latents.shape)
# devices: latents.device
noise = torch.randn(latents.shape, device=latents.device)
