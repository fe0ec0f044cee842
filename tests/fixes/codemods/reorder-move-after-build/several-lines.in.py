# spot: nn.Linear(8, 2)
# move: model.to( device )
model.to(
    device
)
model.fc = nn.Linear(8, 2)
