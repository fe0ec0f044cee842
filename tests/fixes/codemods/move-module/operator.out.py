# spot: given or Net()
model = (given or Net()).to(device)
