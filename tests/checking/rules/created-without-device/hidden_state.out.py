import torch
import torch.nn as nn


class CharRNN(nn.Module):
    def __init__(self, vocab=30, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(vocab, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def init_hidden(self, batch_size):
        return torch.zeros(1, batch_size, self.hidden, device=next(self.parameters()).device)  # finds: created-without-device

    def forward(self, tokens, hidden):
        output, hidden = self.rnn(self.embed(tokens), hidden)
        return self.out(output), hidden


def main():
    device = "cuda"
    net = CharRNN().to(device)
    tokens = torch.randint(0, 30, (2, 5)).to(device)
    h = net.init_hidden(2)
    logits, h = net(tokens, h)
    print(logits.shape)


if __name__ == "__main__":
    main()
