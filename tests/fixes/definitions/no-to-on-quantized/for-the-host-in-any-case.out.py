# cause: quantized-placement
# spot: args.device
import torch


def serve(net, args):
    device = "cpu"
    small = torch.quantization.quantize_dynamic(net, {torch.nn.LSTM})
    small.to(device)
    return small
