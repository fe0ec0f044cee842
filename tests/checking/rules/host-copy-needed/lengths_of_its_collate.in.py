import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

def collate(rows):
    return pad_sequence(rows), torch.tensor([len(row) for row in rows])

rows = [torch.rand(n, 3) for n in (5, 4, 4, 2)]
gru = nn.GRU(3, 6).to("cuda")
for batch in DataLoader(rows, batch_size=2, collate_fn=collate):
    x, lengths = [one.to("cuda") for one in batch]
    packed = pack_padded_sequence(x, lengths, enforce_sorted=False)  # finds: host-copy-needed
    print(gru(packed)[1].shape)
