# cause: offloaded-to-cpu
# name: self.model.decoder(z)
# spot: self.model.decoder(z)
# step: offloaded cpu_offload_with_hook(model, device)
self.model, hook = cpu_offload_with_hook(model, device)
rows = self.model.decoder(z) + bias
