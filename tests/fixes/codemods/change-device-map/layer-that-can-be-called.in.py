# spot: head.weight
# name: head.weight
# cause: offloaded-to-cpu
# step: moved dispatch_model(net, {"head": "cpu"})
def logits(net, x):
    net = dispatch_model(net, {"head": "cpu"})
    head = net.head
    return F.linear(x, head.weight, head.bias)
