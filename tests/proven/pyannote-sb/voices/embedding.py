import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from voices.encoder import Encoder


class VoiceEmbedding:
    shortest = 150

    def __init__(self, device=None):
        self.device = device
        self.encoder = Encoder().to(device)

    def __call__(self, waves, masks=None):
        batch_size, _, samples = waves.shape
        waves = waves.squeeze(dim=1)

        if masks is None:
            signals = waves
            lengths = samples * torch.ones(batch_size)
        else:
            kept = F.interpolate(masks.unsqueeze(dim=1), size=samples, mode="nearest").squeeze(dim=1)
            kept = kept > 0.5
            signals = pad_sequence(
                [wave[one] for wave, one in zip(waves, kept)],
                batch_first=True,
            )
            lengths = kept.sum(dim=1)

        longest = lengths.max()
        if longest < self.shortest:
            return np.nan * np.zeros((batch_size, 4))

        too_short = lengths < self.shortest
        lengths = lengths / longest
        lengths[too_short] = 1.0

        embeddings = (
            self.encoder.encode_batch(signals, lengths).squeeze(dim=1).detach().cpu().numpy()
        )

        embeddings[too_short.numpy()] = np.nan

        return embeddings
