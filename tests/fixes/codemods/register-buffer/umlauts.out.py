# spot: self.größe = torch.tensor([1.0])
class Head(nn.Module):
	def __init__(self):
		super().__init__()
		if "ß" in NAMES: self.register_buffer("größe", torch.tensor([1.0]), persistent=False)  # auch so
