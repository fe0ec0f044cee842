import mydata
import torch
from torch.nn.utils.rnn import pack_padded_sequence

for x, lengths in torch.utils.data.DataLoader(mydata.Rows(), batch_size=2):
    x, lengths = x.to("cuda"), lengths.to("cuda")
    print(pack_padded_sequence(x, lengths).data)  # finds: host-copy-needed
