# cause: zero-offload
# spot: scaler.scale
steps.update(scaler.scale.cpu(), rate=0.1)
