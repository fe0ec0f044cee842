import math

import torch
from torch import nn


class Correlation(nn.Module):
    """Attention to the delays at which a series resembles itself."""

    def __init__(self, factor=1):
        super().__init__()
        self.factor = factor

    def training_sum(self, values, corr):
        """The same delays for a whole batch."""
        length = values.shape[3]
        top_k = int(self.factor * math.log(length))
        mean_value = torch.mean(torch.mean(corr, dim=1), dim=1)
        index = torch.topk(torch.mean(mean_value, dim=0), top_k, dim=-1)[1]
        weights = torch.stack([mean_value[:, index[i]] for i in range(top_k)], dim=-1)
        weights = torch.softmax(weights, dim=-1)
        total = torch.zeros_like(values).float()
        for i in range(top_k):
            pattern = torch.roll(values, -int(index[i]), -1)
            total = total + pattern * weights[:, i].view(-1, 1, 1, 1)
        return total

    def inference_sum(self, values, corr):
        """Its own delays for each series."""
        batch, head, channel, length = values.shape
        # where each step is
        steps = torch.arange(length).unsqueeze(0).unsqueeze(0).unsqueeze(0).repeat(batch, head, channel, 1).cuda()
        top_k = int(self.factor * math.log(length))
        mean_value = torch.mean(torch.mean(corr, dim=1), dim=1)
        weights, delay = torch.topk(mean_value, top_k, dim=-1)
        weights = torch.softmax(weights, dim=-1)
        doubled = values.repeat(1, 1, 1, 2)
        total = torch.zeros_like(values).float()
        for i in range(top_k):
            delayed = steps + delay[:, i].unsqueeze(1).unsqueeze(1).unsqueeze(1).repeat(1, head, channel, length)
            pattern = torch.gather(doubled, dim=-1, index=delayed)
            total = total + pattern * weights[:, i].view(-1, 1, 1, 1)
        return total

    def forward(self, queries, keys, values):
        q_fft = torch.fft.rfft(queries.permute(0, 2, 3, 1).contiguous(), dim=-1)
        k_fft = torch.fft.rfft(keys.permute(0, 2, 3, 1).contiguous(), dim=-1)
        corr = torch.fft.irfft(q_fft * torch.conj(k_fft), dim=-1)
        values = values.permute(0, 2, 3, 1).contiguous()
        if self.training:
            V = self.training_sum(values, corr).permute(0, 3, 1, 2)
        else:
            V = self.inference_sum(values, corr).permute(0, 3, 1, 2)
        return V.contiguous()
