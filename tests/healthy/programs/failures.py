"""Failures that are not about devices, each as its tool reports it."""

import os
import sys
from pathlib import Path

import torch

MODEL = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))


def shape():
    print("device: cpu, batch (2, 5)")
    MODEL(torch.ones(2, 5))


def convolution():
    torch.nn.Conv2d(4, 8, 3)(torch.ones(1, 9, 16, 16))


def dtype():
    MODEL(torch.ones(2, 4, dtype=torch.float64))


def missing_package():
    import flash_attn  # noqa: F401


def missing_name_in_package():
    from transformers import AdamWithLargeCaps  # noqa: F401


def asserted():
    loss = MODEL(torch.ones(2, 4)).sum()
    assert loss.item() > 1e9, f"loss {loss.item():.1f} is too small for the warm start"


def no_cuda():
    MODEL.cuda()


def no_gpu_precision():
    from transformers import TrainingArguments

    TrainingArguments("out", tf32=True)


def spawned_lambda():
    loader = torch.utils.data.DataLoader(
        [1, 2], collate_fn=lambda rows: rows, num_workers=1, multiprocessing_context="spawn"
    )
    next(iter(loader))


def state_dict():
    torch.save(torch.nn.Linear(4, 3).state_dict(), "model.pt")
    torch.nn.Linear(4, 2).load_state_dict(torch.load("model.pt", map_location="cpu"))


def broken_checkpoint():
    Path("model.pt").write_bytes(b"<html>not found</html>")
    torch.load("model.pt", map_location="cpu")


def interrupted():
    import signal
    import threading

    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        MODEL(torch.ones(2, 4))


def disk_full():
    Path("/dev/full").write_text("epoch,loss\n" * 10_000)


def denied():
    os.seteuid(65534)
    torch.save(MODEL.state_dict(), "/root/checkpoint.pt")


def host_memory():
    torch.empty(1 << 50)


def host_memory_numpy():
    import numpy

    numpy.zeros((1 << 24, 1 << 20))


def killed():
    print("epoch 1 done", flush=True)
    os.kill(os.getpid(), 9)


def segfault():
    import ctypes
    import faulthandler

    faulthandler.enable()
    ctypes.string_at(8)


def no_padding():
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({"cpu": 0, "gpu": 1}, unk_token="cpu"))
    )
    words(["cpu", "gpu cpu"], padding=True, return_tensors="pt")


def no_hub():
    from transformers import AutoModel

    AutoModel.from_pretrained("example-org/example-7b", device_map="auto")


def missing_file():
    torch.load("checkpoints/last.ckpt", map_location="cpu")


def second_backward():
    loss = MODEL(torch.ones(2, 4)).sum()
    loss.backward()
    loss.backward()


def in_place():
    weight = torch.ones(3, requires_grad=True)
    hidden = weight.sigmoid()
    hidden += 1
    hidden.sum().backward()


def extension():
    from torch.utils.cpp_extension import load_inline

    load_inline(
        "fused_scale",
        "torch::Tensor scale(torch::Tensor x) { return x * factor; }",
        functions="scale",
    )


def renamed_argument():
    from transformers import TrainingArguments

    TrainingArguments(output_dir="out", evaluation_strategy="epoch")


def division():
    seen = 0
    print(sum(MODEL(torch.ones(2, 4)).flatten().tolist()) / seen)


def token_out_of_range():
    torch.nn.Embedding(10, 4)(torch.tensor([3, 10]))


def nan_check():
    from torch.distributions import Normal

    Normal(MODEL(torch.full((2, 4), float("nan"))), 1.0)


def arguments():
    import argparse

    parser = argparse.ArgumentParser("train.py")
    parser.add_argument("--lr", type=float)
    parser.add_argument("--device", choices=["cpu", "cuda"])
    parser.parse_args(["--lr", "1e-4", "--device", "gpu"])


def dispatched_then_shape():
    """accelerate says that parts are offloaded; then the shapes do not fit."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=2, n_head=2)
    GPT2LMHeadModel(config).save_pretrained("tiny", max_shard_size="20kB")
    places = {"transformer.wte": "cpu", "transformer.wpe": "cpu", "transformer.drop": "cpu",
              "transformer.h.0": "cpu", "transformer.h.1": "disk", "transformer.ln_f": "disk", "lm_head": "cpu"}  # fmt: skip
    model = GPT2LMHeadModel.from_pretrained("tiny", device_map=places, offload_folder="offload")
    model.lm_head(torch.ones(1, 4, 9))


globals()[sys.argv[1]]()
