import torch


def takes_arrays(function):
    """A method whose arguments become tensors on its object's device."""

    def wrapper(self, *args):
        tensors = []
        for value in args:
            tensors.append(torch.tensor(value, dtype=torch.float32, device=self.device))
        return function(self, *tensors)

    return wrapper
