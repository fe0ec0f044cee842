"""Token ids made from a list, without a device, are looked up in an embedding on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes them beside the video's embeddings and prints "fixed: ok".
Of the model there is what happens to a video after the vision tower: pruning and interleaving.
"""

import sys

import torch
from torch import nn
from torch.nn import functional as F

VISION_START, VIDEO_PAD, VISION_END = 5, 6, 7


class VocabParallelEmbedding(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size, width))

    def forward(self, input_):
        return F.embedding(input_, self.weight)


class Qwen3VL(nn.Module):
    def __init__(self, video_pruning_rate, variant, width=8):
        super().__init__()
        self.embed_input_ids = VocabParallelEmbedding(32, width)
        self.rate, self.variant = video_pruning_rate, variant

    def _postprocess_video_embeds_evs(self, frames):
        pruned = []
        for frame in frames:
            keep = frame.norm(dim=-1).argsort(descending=True)
            pruned.append(frame[keep[: int(len(frame) * (1 - self.rate))].sort().values])
        return self._create_final_video_embeddings(pruned)

    def _create_final_video_embeddings(self, frames):
        repl_token_ids = []
        for number, frame in enumerate(frames):
            repl_token_ids += [10 + number, VISION_START, *[VIDEO_PAD] * len(frame), VISION_END]
        device = frames[0].device if self.variant == "fixed" else None
        repl_token_ids = torch.tensor(repl_token_ids, device=device)
        final = self.embed_input_ids(repl_token_ids)
        final[repl_token_ids == VIDEO_PAD] = torch.cat(frames)
        return final


def main(variant):
    torch.manual_seed(0)
    model = Qwen3VL(0.5, variant).to("cuda")
    frames = torch.randn(3, 16, 8, device="cuda")
    with torch.no_grad():
        model._postprocess_video_embeds_evs(frames)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
