# spot: nn.CrossEntropyLoss(weight=weights)
print(f"{nn.CrossEntropyLoss(weight=weights)}")
