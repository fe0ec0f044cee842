# cause: device-map-under-training
# spot: DDP(halves, device_ids=[rank], output_device=rank)
net = DDP(halves, device_ids=[rank], output_device=rank)
