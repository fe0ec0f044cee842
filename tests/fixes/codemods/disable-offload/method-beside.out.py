# cause: offloaded-to-cpu
# spot: cpu_offload(net.eval(), execution_device=device)
net.eval().to(device)
