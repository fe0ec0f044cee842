# spot: nn.DataParallel(VAE(), device_ids=device_ids)
def make(device_ids):
    return nn.DataParallel(VAE(), device_ids=device_ids)
