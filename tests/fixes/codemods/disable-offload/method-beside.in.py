# cause: offloaded-to-cpu
# spot: cpu_offload(net.eval(), execution_device=device)
cpu_offload(net.eval(), execution_device=device)
