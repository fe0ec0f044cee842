y = x.to(device) + pe.to(device)
