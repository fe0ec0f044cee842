"""A matrix whose blocks are on two GPUs hands all of them indices that are on the first.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves indices and values and prints "fixed: ok".
``CatLinearOperator`` has of linear_operator's what matters here: blocks of rows, each on its GPU.
"""

import sys

import torch


class CatLinearOperator:
    def __init__(self, blocks, output_device, variant):
        self.blocks = blocks
        self.output_device = output_device
        self.variant = variant
        self.starts = [sum(map(len, blocks[:i])) for i in range(len(blocks))]

    def __getitem__(self, index):
        row_index, col_index = index
        return self._get_indices(row_index, col_index)

    def _get_indices(self, row_index, col_index):
        res = torch.empty(row_index.shape, device=self.output_device)
        for block, start in zip(self.blocks, self.starts, strict=True):
            mine = (row_index >= start) & (row_index < start + len(block))
            rows, cols = row_index[mine] - start, col_index[mine]
            if self.variant == "fixed":
                rows, cols = rows.to(block.device), cols.to(block.device)
            res[mine] = block[rows, cols].to(self.output_device)
        return res


def pivoted_cholesky(matrix, size, device):
    """The first step: the diagonal of the permuted matrix."""
    pivots = torch.randperm(size, device=device)
    return matrix[pivots, pivots]


def main(variant):
    torch.manual_seed(0)
    output_device = torch.device("cuda:0")
    covar = torch.eye(6)
    blocks = [covar[:3].to("cuda:0"), covar[3:].to("cuda:1")]
    matrix = CatLinearOperator(blocks, output_device, variant)
    diagonal = pivoted_cholesky(matrix, 6, output_device)
    assert diagonal.sum().item() == 6
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
