import torch


class Category:
    def __init__(self, category):
        self.category = category

    def __call__(self, output):
        return output[self.category].sum()


class MaskedCategory:
    """The scores of a category, of the pixels in a mask."""

    def __init__(self, category, mask):
        self.category = category
        self.mask = torch.from_numpy(mask)
        if torch.cuda.is_available():
            self.mask = self.mask.cuda()
        if torch.backends.mps.is_available():
            self.mask = self.mask.to("mps")

    def __call__(self, output):
        return (output[self.category, :, :] * self.mask).sum()
