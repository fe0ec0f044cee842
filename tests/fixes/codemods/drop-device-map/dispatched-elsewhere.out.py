# spot: dispatch_model(model, device_map=device_map)
served = model
