"""A test session about device errors: what is expected to fail, fails."""

import warnings

import pytest
import torch


@pytest.mark.parametrize("device", ["meta", "cpu"])
def test_linear_raises_device_mismatch_error(device):
    model = torch.nn.Linear(4, 2, device=device)
    if device == "cpu":
        assert model(torch.ones(1, 4)).device.type == "cpu"
    else:
        with pytest.raises(RuntimeError, match="not on the expected device"):
            model(torch.ones(1, 4))


def test_warns_of_cpu():
    warnings.warn(
        "User provided device_type of 'cuda', but CUDA is not available. Disabling", stacklevel=1
    )


@pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA out of memory test wants a GPU")
def test_out_of_memory():
    torch.empty(1 << 60, device="cuda")


@pytest.mark.xfail(
    raises=RuntimeError, reason="Expected all tensors to be on the same device", strict=True
)
def test_two_devices():
    torch.nn.Linear(4, 2, device="meta")(torch.ones(1, 4))
