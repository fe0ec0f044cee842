# spot: model.to(device, torch.half)
model.to(device, torch.half)
