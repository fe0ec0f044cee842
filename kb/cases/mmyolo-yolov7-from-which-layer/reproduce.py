"""Layer numbers of candidate boxes, made on the cpu, are filtered with a mask from the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the numbers where the boxes are and prints "fixed: ok".
``BatchYOLOv7Assigner`` keeps three feature levels, a cost and the final filter.
"""

import sys

import torch


class BatchYOLOv7Assigner:
    def __init__(self, variant):
        self.variant = variant

    def collect(self, pred_per_level):
        boxes, from_which_layer = [], []
        for i, level in enumerate(pred_per_level):
            where = {"device": level.device} if self.variant == "fixed" else {}
            boxes.append(level)
            from_which_layer.append(torch.ones(size=(len(level),), **where) * i)
        return torch.cat(boxes), torch.cat(from_which_layer)

    def assign(self, pred_per_level, gt_bboxes):
        boxes, from_which_layer = self.collect(pred_per_level)
        cost = torch.cdist(gt_bboxes, boxes)
        matching_matrix = torch.zeros_like(cost)
        matching_matrix.scatter_(1, cost.topk(4, largest=False).indices, 1.0)
        fg_mask_inboxes = matching_matrix.sum(0) > 0
        matched_gt_inds = matching_matrix[:, fg_mask_inboxes].argmax(0)
        from_which_layer = from_which_layer[fg_mask_inboxes]
        return from_which_layer, gt_bboxes[matched_gt_inds]


def main(variant):
    torch.manual_seed(0)
    head_outputs = [torch.rand(side * side, 4, device="cuda") for side in (8, 4, 2)]
    gt_bboxes = torch.rand(3, 4, device="cuda")
    layers, targets = BatchYOLOv7Assigner(variant).assign(head_outputs, gt_bboxes)
    assert len(layers) == len(targets)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
