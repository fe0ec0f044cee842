# cause: offloaded-to-cpu
# name: self.model.decoder(z)
# spot: self.model.decoder(z)
# step: offloaded cpu_offload(model, device)
self.model = cpu_offload(model, device)
rows = self.model.decoder(z) + bias
