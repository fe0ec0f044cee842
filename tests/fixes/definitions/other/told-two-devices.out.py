# cause: device-map-under-training
# spot: DDP(halves, device_ids=[rank], output_device=rank)
def launch(halves, rank):
    return DDP(halves)
