import torch
from torch import nn
from torch.nn import functional


class OverlapAdd(nn.Module):
    """Applies a network to overlapping pieces of a long wave."""

    def __init__(self, net, sources, window_size, hop_size=None, window="hann"):
        super().__init__()
        self.net = net
        self.sources = sources
        self.window_size = window_size
        self.hop_size = hop_size if hop_size is not None else window_size // 2
        if window:
            window = getattr(torch, f"{window}_window")(window_size)
            self.use_window = True
        else:
            self.use_window = False
        self.register_buffer("window", window)

    def ola_forward(self, x):
        batch, _, samples = x.size()
        unfolded = functional.unfold(
            x.unsqueeze(-1),
            kernel_size=(self.window_size, 1),
            padding=(self.window_size, 0),
            stride=(self.hop_size, 1),
        )
        out = []
        pieces = unfolded.shape[-1]
        for index in range(pieces):
            frame = self.net(unfolded[..., index].unsqueeze(1))
            frame = frame.reshape(batch * self.sources, -1)
            if self.use_window:
                frame = frame * self.window
            else:
                frame = frame / (self.window_size / self.hop_size)
            out.append(frame)
        out = torch.stack(out).permute(1, 2, 0)
        out = functional.fold(
            out,
            (samples, 1),
            kernel_size=(self.window_size, 1),
            padding=(self.window_size, 0),
            stride=(self.hop_size, 1),
        )
        return out.squeeze(-1).reshape(batch, self.sources, -1)

    def forward(self, x):
        with torch.no_grad():
            return self.ola_forward(x)
