# spot: model.to(device)
model.to(device)
