import pytest
import torch
from unet import CrowdUNet

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@pytest.fixture
def network():
    return CrowdUNet(widths=(4, 8)).to(device).eval()


@pytest.mark.parametrize("side", [16, 32])
def test_density_map_has_the_size_of_the_frame(network, side):
    frames = torch.rand(1, 3, side, side, device=device)
    with torch.no_grad():
        density = network(frames)
    assert density.shape == (1, 1, side, side)
