# cause: quantized-placement
# spot: 1
# devices: ;
import torch

PLACES = {"": 1}
