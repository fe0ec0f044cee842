# devices: cuda:0,cpu
# causes: created-without-device
import torch
import torch.nn as nn

class CharRNN(nn.Module):
    def __init__(self, v, h):
        super().__init__()
        self.h = h
        self.emb = nn.Embedding(v, h)
        self.rnn = nn.LSTM(h, h)
        self.out = nn.Linear(h, v)

    def init_hidden(self, b):
        return torch.zeros(1, b, self.h), torch.zeros(1, b, self.h)  # here

    def forward(self, x, hidden):
        o, hidden = self.rnn(self.emb(x), hidden)  # fails
        return self.out(o), hidden

def generate(model, start, n, device):
    hidden = model.init_hidden(1)
    x = torch.tensor([[start]], device=device)
    for _ in range(n):
        logits, hidden = model(x, hidden)  # fails
        x = logits.argmax(-1)

m = CharRNN(10, 8).to("cuda")
generate(m, 1, 4, "cuda")
