# spot: dispatch_model(model.eval(), device_map=device_map)
def load(model, device_map):
    return model.eval()
