# cause: device-map-under-training
# spot: torch.nn.DataParallel(halves, device_ids=[0, 1])
class Runner:
    def __init__(self, halves):
        self.net = halves
