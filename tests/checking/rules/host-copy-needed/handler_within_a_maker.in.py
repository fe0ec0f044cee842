import torch
from torch import nn


class Routes:
    """what a web framework does: it calls the handler of a path"""

    def __init__(self):
        self.paths = {}

    def get(self, path):
        def kept(handler):
            self.paths[path] = handler
            return handler

        return kept


def site(net):
    routes = Routes()

    @routes.get("/level")
    def level():
        with torch.no_grad():
            found = net(torch.ones(1, 4, device="cuda"))
        return {"level": found.numpy().tolist()}  # finds: host-copy-needed

    return routes


print(site(nn.Linear(4, 1).cuda()).paths["/level"]())
