"""An embedding trained on somebody's second GPU lies in the folder of a machine with fewer.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch.load's error,
``python reproduce.py fixed`` reads it onto the cpu and moves it, and prints "fixed: ok". The mark
in the file names the first GPU that this machine does not have. webui prints the traceback of such
a file and goes on to the next; here it is let through.
"""

import os
import sys
import tempfile
from unittest import mock

import torch


class EmbeddingDatabase:
    def __init__(self, device, variant):
        self.device = device
        self.variant = variant
        self.word_embeddings = {}

    def load_textual_inversion_embeddings(self, folder):
        def process_file(path, filename):
            if self.variant == "fixed":
                data = torch.load(path, map_location="cpu")
            else:
                data = torch.load(path)
            (vector,) = data["string_to_param"].values()
            self.word_embeddings[filename] = vector.to(self.device)

        for filename in os.listdir(folder):
            process_file(os.path.join(folder, filename), filename)


def share_embedding(path):
    location = f"cuda:{torch.cuda.device_count()}"
    with mock.patch("torch.serialization.location_tag", return_value=location):
        torch.save({"string_to_param": {"*": torch.randn(1, 16)}}, path)


def main(variant):
    with tempfile.TemporaryDirectory() as folder:
        share_embedding(os.path.join(folder, "style.pt"))
        database = EmbeddingDatabase(torch.device("cuda:0"), variant)
        database.load_textual_inversion_embeddings(folder)
    assert database.word_embeddings["style.pt"].is_cuda
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
