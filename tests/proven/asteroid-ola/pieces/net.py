from torch import nn


class Separator(nn.Module):
    def __init__(self, sources):
        super().__init__()
        self.layer = nn.Conv1d(1, sources, 3, padding=1)

    def forward(self, wave):
        return self.layer(wave)
