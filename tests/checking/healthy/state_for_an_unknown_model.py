# What takes a state is a model, whatever else is not known of it: it copies.
import torch
from transformers.zoo import build_network


class Predictor:
    def __init__(self, path):
        self.states = [torch.load(path, map_location=torch.device("cpu"))]
        self.network = build_network("small")

    def predict(self, x):
        self.network = self.network.to("cuda")
        for state in self.states:
            self.network.load_state_dict(state)
        return self.network(x.to("cuda"))


print(Predictor("small.pt").predict(torch.rand(2, 4)))
