# spot: torch.compile(Net(), mode="max-autotune")
model = torch.compile(Net(), mode="max-autotune").eval()
