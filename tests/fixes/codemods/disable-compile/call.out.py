# spot: torch.compile(Net(), mode="max-autotune")
model = Net().eval()
