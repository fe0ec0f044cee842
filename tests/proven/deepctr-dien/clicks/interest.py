import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class InterestExtractor(nn.Module):
    def __init__(self, input_size, device="cpu"):
        super().__init__()
        self.gru = nn.GRU(input_size=input_size, hidden_size=input_size, batch_first=True)
        self.to(device)

    def forward(self, keys, keys_length):
        _, max_length, dim = keys.size()

        # a sequence without items cannot be packed
        mask = keys_length > 0
        masked_length = keys_length[mask]
        if masked_length.shape[0] == 0:
            return torch.zeros(0, max_length, dim, device=keys.device)

        masked_keys = torch.masked_select(keys, mask.view(-1, 1, 1)).view(-1, max_length, dim)
        packed_keys = pack_padded_sequence(
            masked_keys, lengths=masked_length, batch_first=True, enforce_sorted=False
        )
        packed_interests, _ = self.gru(packed_keys)
        interests, _ = pad_packed_sequence(
            packed_interests, batch_first=True, padding_value=0.0, total_length=max_length
        )
        return interests
