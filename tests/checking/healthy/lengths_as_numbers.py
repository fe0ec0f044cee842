import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.LSTM(4, 8, batch_first=True).to("cuda:0")
        self.high = nn.Linear(8, 2).to("cuda:1")

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        read, _ = pad_packed_sequence(self.low(packed)[0], batch_first=True)
        return self.high(read.to("cuda:1"))


rows = [torch.rand(3, 4), torch.rand(2, 4)]
x = nn.utils.rnn.pad_sequence(rows, batch_first=True).to("cuda:0")
print(Reader()(x, [len(one) for one in rows]).shape)
