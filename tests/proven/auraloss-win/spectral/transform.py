import torch


def magnitudes(x, fft_size, hop, length, window):
    """What each frequency weighs, by frame."""
    spectrum = torch.stft(x, fft_size, hop, length, window, return_complex=True)
    return torch.sqrt(torch.clamp(spectrum.real**2 + spectrum.imag**2, min=1e-7))
