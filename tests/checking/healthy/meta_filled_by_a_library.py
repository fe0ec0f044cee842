import torch
from accelerate import init_empty_weights
from accelerate.utils import set_module_tensor_to_device
from torch import nn

state = nn.Linear(4, 2).state_dict()
with init_empty_weights():
    net = nn.Linear(4, 2)
for name, value in state.items():
    set_module_tensor_to_device(net, name, "cuda", value=value)
net.to("cuda")
print(net(torch.rand(1, 4, device="cuda")))
