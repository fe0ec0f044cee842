# cause: rank-device
# spot: torch.cuda.set_device(env.rank)
# devices: ;
import torch


class Env:
    def __init__(self, environ):
        self.rank, self.local_rank = int(environ["RANK"]), int(environ["LOCAL_RANK"])


def setup(env):
    torch.cuda.set_device(env.local_rank)
