# spot: model.to(device, torch.half)
model.to(device, torch.half)
model.load_state_dict(state)
