# spot: net.reader
# name: net.reader
# cause: offloaded-to-cpu
# step: offloaded cpu_offload_with_hook(net, device)
def read(net, rows, device):
    net, hook = cpu_offload_with_hook(net, device)
    return net.reader(rows)
