import torch
from accelerate import cpu_offload_with_hook
from torch import nn

class Ear(nn.Module):
    def __init__(self):
        super().__init__()
        self.hears = nn.Linear(6, 4)
    def listen(self, sound):
        return self.hears(sound).tanh()
    def forward(self, sound):
        return self.listen(sound).mean(0)

gpu = torch.device("cuda")
ear, of_ear = cpu_offload_with_hook(Ear(), gpu)
mouth, _ = cpu_offload_with_hook(nn.Linear(4, 6), gpu, prev_module_hook=of_ear)
sound = torch.rand(3, 6, device=gpu)
heard = ear(sound)
print(ear.listen(sound))
said = mouth(heard)
print(ear.listen(sound + said))  # finds: offloaded-to-cpu
