# spot: nn.DataParallel(VAE(), device_ids=ids())
model = nn.DataParallel(VAE(), device_ids=ids())
