# cause: offloaded-to-cpu
# name: self.fc
# spot: read(page.to(CARD))
# devices: CARD
# step: offloaded cpu_offload_with_hook(model, CARD)
model, hook = cpu_offload_with_hook(model, CARD)
read = model.lines
if swapped:
    read = other.lines
rows = read(page.to(CARD))
