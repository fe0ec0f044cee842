# spot: nn.Linear(8, 2)
# move: model.to(device)
model = Net()
model.to(device)  # once
model.fc = nn.Linear(8, 2)
model.head = nn.Linear(2, 2)
optimizer = SGD(model.parameters())
