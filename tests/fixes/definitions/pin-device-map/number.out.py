# cause: quantized-placement
# spot: 1
# devices: ;
import torch

PLACES = {"": torch.cuda.current_device()}
