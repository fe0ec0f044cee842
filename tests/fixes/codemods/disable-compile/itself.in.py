# spot: torch.compile(model)
model = Net()
model = torch.compile(model)
train(model)
