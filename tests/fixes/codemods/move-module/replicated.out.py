# spot: nn.DataParallel(VAE(), device_ids=device_ids)
def make(device_ids):
    return nn.DataParallel(VAE().to(f"cuda:{device_ids[0]}"), device_ids=device_ids)
