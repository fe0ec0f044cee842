# A packed sequence is where its rows are; its lengths are on the host.
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 4, batch_first=True)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths=lengths.cpu(), batch_first=True)
        _, state = self.rnn(packed)
        return state[0]


print(Reader().cuda()(torch.rand(2, 3, 4).cuda(), torch.tensor([3, 2]).cuda()).shape)
