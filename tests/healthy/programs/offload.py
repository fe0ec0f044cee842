"""Models placed by accelerate's and transformers' device maps, with parts on the disk."""

import sys

import torch
from accelerate import disk_offload, dispatch_model, init_empty_weights
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils import logging


def tiny():
    return GPT2LMHeadModel(
        GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=2, n_head=2)
    )


def generate(model):
    tokens = model.generate(torch.tensor([[1, 2, 3]]), max_new_tokens=6, do_sample=False)
    print("generated", tokens.shape, "on", tokens.device)


def pretrained():
    logging.set_verbosity_info()
    tiny().save_pretrained("tiny", max_shard_size="20kB")
    places = {
        "transformer.wte": "cpu", "transformer.wpe": "cpu", "transformer.drop": "cpu",
        "transformer.h.0": "cpu", "transformer.h.1": "disk", "transformer.ln_f": "disk", "lm_head": "cpu",
    }  # fmt: skip
    model = GPT2LMHeadModel.from_pretrained("tiny", device_map=places, offload_folder="offload")
    print(model.hf_device_map)
    generate(model)


def dispatched():
    model = tiny().eval()
    places = {"transformer": "disk", "lm_head": "cpu"}
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.clone())
    dispatch_model(model, places, main_device="cpu", offload_dir="offload", force_hooks=True)
    print({name: str(p.device) for name, p in list(model.named_parameters())[:4]})
    generate(model)


def meta():
    with init_empty_weights():
        empty = tiny()
    print("parameters on", {str(p.device) for p in empty.parameters()})
    empty.load_state_dict(tiny().state_dict())
    model = tiny().eval()
    disk_offload(model, "offload", execution_device=torch.device("cpu"))
    print("parameters on", {str(p.device) for p in model.parameters()})
    generate(model)


globals()[sys.argv[1]]()
