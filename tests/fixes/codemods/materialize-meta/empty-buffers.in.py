# cause: meta-tensor
# spot: init_empty_weights(include_buffers=thin)
from accelerate import init_empty_weights


def bare(config, thin):
    with init_empty_weights(include_buffers=thin):
        return Net(config)
