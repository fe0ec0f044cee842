# spot: {"head": 1, "body": 0}
device_map = {"head": 1, "body": 0}
