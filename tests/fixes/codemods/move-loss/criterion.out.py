# spot: nn.CrossEntropyLoss(weight=weights)
criterion = nn.CrossEntropyLoss(weight=weights).to(device)
