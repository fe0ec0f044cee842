# cause: offloaded-to-cpu
# name: self.fc
# spot: model.lines(page, width=2)
# devices: CARD
# step: offloaded cpu_offload_with_hook(model, CARD)
model, hook = cpu_offload_with_hook(model, CARD)
for page in pages:
    rows = model.lines(page, width=2)
