# spot: True
CONFIG = {"batch": 4, "offload_optimizer": False}
