# spot: net.model.norm.weight
# name: net.model.norm.weight
# cause: offloaded-to-cpu
# step: moved dispatch_model(net, PLACES)
PLACES = {
    "model.embed": 1,
    "model.norm": "cpu",
    "model.head": "cpu",
}


def scaled(net, x):
    net = dispatch_model(net, PLACES)
    return x * net.model.norm.weight
