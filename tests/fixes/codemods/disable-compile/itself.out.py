# spot: torch.compile(model)
model = Net()
train(model)
