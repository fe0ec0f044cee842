# spot: nn.Linear(8, 2)
# move: Net().to(device)
model = Net().to(device)
if args.classes:
    model.fc = nn.Linear(8, 2)
    model.head = nn.Linear(2, 2)
