# cause: zero-offload
# spot: scaler.scale
steps.update(scaler.scale, rate=0.1)
