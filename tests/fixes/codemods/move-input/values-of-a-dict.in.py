# spot: value.to(device)
for value in batch.values():
    value.to(device)
