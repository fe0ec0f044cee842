# spot: model.to(device)
model.to_empty(device=device)
