# cause: device-map-under-training
# spot: torch.cuda.device_count() > 1
model = build(parallel=False)
