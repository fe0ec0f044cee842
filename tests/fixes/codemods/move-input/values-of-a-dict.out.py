# spot: value.to(device)
for key, value in batch.items():
    batch[key] = value.to(device)
