"""Bound methods kept by an adapter layer lead DataParallel replicas to the first GPU's weights.

Needs torch, transformers, adapters and two GPUs. ``python reproduce.py failing`` ends in the device
error, ``python reproduce.py fixed`` runs the installed adapters (0.2.0 or later) and prints
"fixed: ok". adapters mended the mistake in 0.2.0, so the failing variant puts it back: the table
from composition block to bound method that every adapter layer made in __init__. The BERT is tiny
and random.
"""

import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import adapters
import torch
from adapters.methods.adapter_layer_base import ComposableAdapterLayerBase
from transformers import BertConfig


def remember_bound_methods():
    """Puts back what adapters did up to 0.1.2: methods bound to the module that made the table."""
    by_name = ComposableAdapterLayerBase._init_mapping

    def _init_mapping(self):
        by_name(self)
        self.bound_compose = {
            block: getattr(self, name) for block, name in self.composition_to_func_map.items()
        }

    def _get_compose_func(self, composition_type):
        # A replica has a copy of the table, whose methods still belong to the original module.
        return self.bound_compose[composition_type]

    ComposableAdapterLayerBase._init_mapping = _init_mapping
    ComposableAdapterLayerBase._get_compose_func = _get_compose_func


def build():
    config = BertConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=16,
    )
    model = adapters.AutoAdapterModel.from_config(config)
    model.add_adapter("rotten_tomatoes", config="seq_bn")
    model.add_classification_head("rotten_tomatoes", num_labels=5)
    model.train_adapter("rotten_tomatoes")
    return model


def main(variant):
    torch.manual_seed(0)
    if variant == "failing":
        remember_bound_methods()
    model = torch.nn.DataParallel(build().to("cuda:0"), device_ids=[0, 1])
    input_ids = torch.randint(32, (4, 8)).to("cuda:0")
    labels = torch.randint(5, (4,)).to("cuda:0")
    loss = model(input_ids=input_ids, labels=labels)["loss"].mean()
    loss.backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
