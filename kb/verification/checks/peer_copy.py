import torch


def check_peer_copy(watch):
    """copies from GPU to GPU arrive intact"""
    if watch.passes or watch.error:
        return  # once, before the run
    pattern = torch.arange(1, 4097)
    visible = range(torch.cuda.device_count())
    for source in visible:
        for target in visible:
            copied = pattern.to(f"cuda:{source}").to(f"cuda:{target}").cpu()
            if not torch.equal(copied, pattern):
                yield f"a copy from cuda:{source} to cuda:{target} arrived damaged"
