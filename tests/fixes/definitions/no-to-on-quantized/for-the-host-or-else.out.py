# cause: quantized-placement
# spot: torch.device(type="cuda")
import torch


def reader(net, exact, few):
    place = torch.device("cpu") if (few or not torch.backends.quantized.supported_engines) and (not exact) else torch.device(type="cuda")
    if few or not torch.backends.quantized.supported_engines:
        if exact:
            net = net.double()
        else:
            net = torch.quantization.quantize_dynamic(net, {torch.nn.Linear})
    return net.to(place)
