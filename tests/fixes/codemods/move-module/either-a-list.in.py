# cause: module-not-moved
# spot: self.gauges = gauges if gauges is not None else []
# name: self.gauges
class Net:
    def __init__(self, gauges=None, device="cuda"):
        self.gauges = gauges if gauges is not None else []
