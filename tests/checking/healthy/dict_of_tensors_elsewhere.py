# A dict of tensors brings there what it is given, where it is told a device, and later what is put in.
import torch
from tensordict import TensorDict
from transformers.environments import Environment


class Walker(Environment):
    def __init__(self):
        super().__init__()
        self.home = torch.zeros(3, device=self.device)
        self.position = torch.zeros(3)

    def state(self):
        return TensorDict({"position": self.position}, device=self.device)

    def height(self):
        state = self.state()
        state.set("speed", torch.zeros(3))
        return state["position"] - self.home
