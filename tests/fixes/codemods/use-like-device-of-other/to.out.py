# spot: torch.zeros(n).to("cuda", torch.half)
# devices: x.device
h = torch.zeros(n).to(x.device, torch.half)
