import unittest

import torch
from torch import nn


class TestGate(unittest.TestCase):
    def test_refuses_a_mask_of_the_host(self):
        gate = nn.Linear(4, 4).cuda()
        mask = torch.ones(2, 4)  # finds: created-without-device
        rows = gate(torch.rand(2, 4, device="cuda"))
        with self.assertRaisesRegex(RuntimeError, "same device"):
            torch.mul(rows, mask)


if __name__ == "__main__":
    unittest.main()
