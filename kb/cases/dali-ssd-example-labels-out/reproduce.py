"""Labels collected in a list on the cpu are put in the order of scores from the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the labels before they are indexed and prints "fixed: ok".
``Encoder`` keeps of the example's decoder the loop over classes and the last selection.
"""

import sys

import torch


class Encoder:
    def __init__(self, variant):
        self.variant = variant

    def decode_single(self, bboxes_in, scores_in, max_output):
        bboxes_out, scores_out, labels_out = [], [], []
        for i, score in enumerate(scores_in.split(1, 1)):
            if i == 0:  # background
                continue
            mask = score.squeeze(1) > 0.05
            bboxes, score = bboxes_in[mask], score.squeeze(1)[mask]
            bboxes_out.append(bboxes)
            scores_out.append(score)
            labels_out.extend([i] * len(score))
        bboxes_out = torch.cat(bboxes_out)
        scores_out = torch.cat(scores_out)
        labels_out = torch.tensor(labels_out, dtype=torch.long)
        if self.variant == "fixed":
            labels_out = labels_out.to(scores_out.device)
        _, max_ids = scores_out.sort(dim=0)
        max_ids = max_ids[-max_output:]
        return bboxes_out[max_ids], labels_out[max_ids], scores_out[max_ids]


def main(variant):
    torch.manual_seed(0)
    ploc = torch.rand(32, 4, device="cuda")
    plabel = torch.randn(32, 5, device="cuda").softmax(dim=1)
    boxes, labels, scores = Encoder(variant).decode_single(ploc, plabel, max_output=10)
    assert len(boxes) == len(labels) == len(scores) == 10
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
