# spot: model.to(device)
with torch.device("cpu"):
    model = Net()
model.to(device)
