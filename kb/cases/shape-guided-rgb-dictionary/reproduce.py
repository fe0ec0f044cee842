"""The nearest neighbours of a patch, found on the GPU, are looked up in a library on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the indices to the library and prints "fixed: ok".
"""

import sys

import torch


class RGBFeatures:
    def __init__(self, device, variant):
        self.device = device
        self.variant = variant
        # Collected over the whole training set, so not on the GPU.
        self.rgb_patch_lib = torch.randn(50, 8)

    def knn(self, rgb_features, k=5):
        distances = torch.cdist(rgb_features, self.rgb_patch_lib.to(self.device))
        return distances.topk(k, largest=False).indices

    def Dict_compute_rgb_map(self, rgb_features):
        knn_idx = self.knn(rgb_features)
        rgb_map = []
        for patch in range(len(rgb_features)):
            nearest = knn_idx[patch]
            if self.variant == "fixed":
                nearest = nearest.to(self.rgb_patch_lib.device)
            knn_features = self.rgb_patch_lib[nearest].to(self.device)
            rgb_map.append(torch.dist(rgb_features[patch], knn_features.mean(0)))
        return torch.stack(rgb_map)

    def predict_align_data(self, rgb_features):
        return self.Dict_compute_rgb_map(rgb_features)


def align(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    methods = RGBFeatures(device, variant)
    rgb_s = methods.predict_align_data(torch.randn(4, 8, device=device))
    assert rgb_s.shape == (4,)
    print(f"{variant}: ok")


if __name__ == "__main__":
    align(sys.argv[1])
