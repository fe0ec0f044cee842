# spot: model.to(device)
with torch.device("meta"):
    model = Net()
model.to(device)
