# spot: self.prototypes = (prototypes / prototypes.norm()).to("cuda")
class Head(nn.Module):
    def __init__(self, prototypes):
        super().__init__()
        self.register_buffer("prototypes", (prototypes / prototypes.norm()), persistent=False)
