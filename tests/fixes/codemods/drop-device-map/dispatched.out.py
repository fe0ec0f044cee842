# spot: dispatch_model(model, device_map)
def load(split):
    model = Net()
    if split:
        pass
    return model
