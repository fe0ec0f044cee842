# cause: device-map-under-training
# spot: DistributedDataParallel(halves, device_ids=[rank], find_unused_parameters=True)
def launch(halves, rank):
    return DistributedDataParallel(halves, find_unused_parameters=True)
