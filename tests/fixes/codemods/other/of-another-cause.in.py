# cause: generator-device
# spot: torch.Generator()
draw(torch.Generator())
