import torch
import torch.nn.functional as F


def bell(sigma, truncated=3.0):
    tail = int(float(sigma) * truncated + 0.5)
    x = torch.arange(-tail, tail + 1, dtype=torch.float, device=sigma.device)
    return torch.exp(-0.5 * (x / sigma) ** 2)


def _convolved(images, kernels, d, dims, paddings, channels):
    if d < 0:
        return images

    shape = [1] * len(images.shape)
    shape[d + 2] = -1
    _kernel = kernels[d].reshape(shape)
    _kernel = _kernel.repeat([channels, 1] + [1] * dims)
    _padding = [0] * dims
    _padding[d] = paddings[d]
    convolve = [F.conv1d, F.conv2d, F.conv3d][dims - 1]
    padded = F.pad(images, sum([[p, p] for p in reversed(_padding)], []))

    return convolve(
        input=_convolved(padded, kernels, d - 1, dims, paddings, channels),
        weight=_kernel,
        groups=channels,
    )


def separable(x, kernels):
    """Convolves images with one kernel for each of their dimensions."""
    dims = len(x.shape) - 2
    paddings = [(kernel.shape[0] - 1) // 2 for kernel in kernels]
    return _convolved(x, kernels, dims - 1, dims, paddings, x.shape[1])
