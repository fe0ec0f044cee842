# spot: value.to(device)
def to(batch, key, device):
    for value in batch.values():
        value.to(device)
    print(key)
    key = None
