# cause: meta-tensor
# spot: disk_offload(model.body, "weights", gpu)
model.body.to(gpu)
