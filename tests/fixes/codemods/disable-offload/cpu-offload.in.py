# cause: offloaded-to-cpu
# spot: cpu_offload(model, execution_device=gpu)
cpu_offload(model, execution_device=gpu)
