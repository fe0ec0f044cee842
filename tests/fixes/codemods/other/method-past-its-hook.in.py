# cause: offloaded-to-cpu
# name: self.fc
# spot: self.model.decode(z)
# step: offloaded cpu_offload_with_hook(model, device)
self.model, hook = cpu_offload_with_hook(model, device)
rows = self.model.decode(z)
