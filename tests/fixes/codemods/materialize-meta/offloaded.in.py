# cause: meta-tensor
# spot: disk_offload(model.body, "weights", gpu)
disk_offload(model.body, "weights", gpu)
