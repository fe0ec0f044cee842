# spot: x.new_tensor()
z = x.new_tensor(device=device)
