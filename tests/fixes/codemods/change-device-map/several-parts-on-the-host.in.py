# spot: layer.weight
# name: layer.weight
# cause: offloaded-to-cpu
# step: moved dispatch_model(net, device_map={"one": "cpu", "two": "disk"})
def scaled(net, x):
    net = dispatch_model(net, device_map={"one": "cpu", "two": "disk"})
    for layer in net.children():
        x = x @ layer.weight
