# cause: offloaded-to-cpu
# name: self.fc
# spot: read(page.to(CARD))
# devices: CARD
# step: offloaded cpu_offload_with_hook(model, CARD)
class Desk:
    def __init__(self, model):
        self.model, self.hook = cpu_offload_with_hook(model, CARD)
    def compare(self, page, other):
        read = self.model.lines
        self.model.to(CARD)
        return read(page.to(CARD)) - read(other.to(CARD))
