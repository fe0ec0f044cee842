# spot: "cpu"
CONFIG = {"zero_optimization": {"offload_optimizer": {"device": "none"}}}
