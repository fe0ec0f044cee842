# spot: torch.arange(self.width)
# wanted: cuda:1
# devices: ;
class Offsets(BaseModule):
    def reset(self):
        steps = torch.arange(self.width, device=next(self.parameters()).device)
        self.bias.data = steps * self.scale
