# spot: nn.Linear(8, 2)
# move: model.to(device)
model = Net()
model.fc = nn.Linear(8, 2)
model.head = nn.Linear(2, 2)
model.to(device)  # once
optimizer = SGD(model.parameters())
