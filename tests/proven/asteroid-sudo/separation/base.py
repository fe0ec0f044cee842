from torch import nn


class EncodeMaskDecode(nn.Module):
    """A waveform is encoded, masked for each source, and decoded."""

    def __init__(self, encoder, sources):
        super().__init__()
        self.encoder = encoder
        self.sources = sources
        self.masker = nn.Conv1d(encoder.channels, sources * encoder.channels, 1)
        self.decoder = nn.ConvTranspose1d(encoder.channels, 1, encoder.kernel, encoder.kernel // 2)

    def forward(self, wave):
        encoded = self.forward_encoder(wave)
        masks = self.masker(encoded).unflatten(1, (self.sources, -1)).sigmoid()
        masked = masks * encoded.unsqueeze(1)
        return self.decoder(masked.flatten(0, 1))[..., : wave.shape[-1]]

    def forward_encoder(self, wave):
        return self.encoder(wave).relu()
