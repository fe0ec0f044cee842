"""A dictionary of tensors is padded, in a selection, with tensors made on the cpu.

Needs torch and one accelerator. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the padding on the dictionary's device and prints "fixed: ok".
``TensorDict`` has of its namesake only ``where``.
"""

import sys

import torch


class TensorDict(dict):
    mended = False

    def where(self, condition, other, pad):
        result = TensorDict()
        for key in self.keys() | other.keys():
            mine, theirs = self.get(key), other.get(key)
            example = mine if mine is not None else theirs
            device = example.device if self.mended else None
            padding = torch.full(example.shape, pad, device=device)
            result[key] = torch.where(
                condition,
                mine if mine is not None else padding,
                theirs if theirs is not None else padding,
            )
        return result


def test_where_pad(variant):
    TensorDict.mended = variant == "fixed"
    device = torch.accelerator.current_accelerator()
    td = TensorDict(a=torch.ones(4, device=device))
    other = TensorDict(b=torch.ones(4, device=device))
    condition = torch.tensor([True, False, True, False], device=device)
    result = td.where(condition, other, pad=-1.0)
    assert result["a"].tolist() == [1.0, -1.0, 1.0, -1.0]


def main(variant):
    test_where_pad(variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
