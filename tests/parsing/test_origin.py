"""Where frames belong: installed packages, checkouts, Python's own library, the user's code."""

from __future__ import annotations

import pytest
from parsing.knowledge import libraries

from diagnose.model import Frame
from diagnose.parsing.origin import Origins, libraries_of

ORIGINS = Origins(libraries())


@pytest.mark.parametrize(
    ("file", "library", "stdlib"),
    [
        ("/opt/conda/envs/x/lib/python3.11/site-packages/peft/tuners/lora/layer.py", "peft", False),
        ("/usr/local/lib/python3.8/dist-packages/transformers/trainer.py", "transformers", False),
        (r"C:\Users\u\venv\Lib\site-packages\torch\nn\modules\module.py", "torch", False),
        (r"...\venv\lib\site-packages\timm\layers\norm.py", "timm", False),
        (
            "/x/lib/python3.6/site-packages/mmcv-1.0-py3.6-linux-x86_64.egg/mmcv/runner/a.py",
            "mmcv",
            False,
        ),
        ("/x/site-packages/unheard_of/a.py", "unheard_of", False),
        ("/x/site-packages/single.py", "single", False),
        ("/x/site-packages/fused.cpython-311-x86_64-linux-gnu.so", "fused", False),
        (
            "/home/u/transformers/src/transformers/models/llama/modeling_llama.py",
            "transformers",
            False,
        ),
        ("/home/u/trl/trl/extras/loss.py", "trl", False),
        ("/data/peft-fork/peft/helpers.py", "peft", False),
        ("accelerate/hooks.py", "accelerate", False),
        ("/home/u/EasyEdit/easyeditor/models/rome/main.py", "easyeditor", False),
        ("/root/.cache/huggingface/modules/transformers_modules/x/modeling_x.py", None, False),
        (
            "/tmp/torch_geometric.nn.conv.gcn_conv_GCNConv_propagate_f0ccn0kc.py",
            "torch_geometric",
            False,
        ),
        ("/tmp/__main___Layer_edge_updater_x_8n8qz1.py", "torch_geometric", False),
        ("/home/u/label_propagate_nodes.py", None, False),
        ("/home/u/project/models/transformer.py", None, False),
        ("/home/u/torch/train.py", None, False),
        ("train.py", None, False),
        ("<stdin>", None, False),
        ("<ipython-input-3-abc>", None, False),
        ("<frozen importlib._bootstrap>", None, True),
        ("/usr/lib/python3.11/contextlib.py", None, True),
        ("/root/.pyenv/versions/3.11.7/lib/python3.11/concurrent/futures/_base.py", None, True),
        (r"C:\Users\u\AppData\Local\Programs\Python\Python311\Lib\threading.py", None, True),
        ("/opt/conda/lib/python3.10/multiprocessing/pool.py", None, True),
    ],
)
def test_place(file: str, library: str | None, stdlib: bool) -> None:
    frame = ORIGINS.place(Frame(file, 1, "f"))
    assert (frame.library, frame.stdlib) == (library, stdlib)


def test_libraries_are_named_once_outermost_first() -> None:
    files = [
        "a.py",
        "/site-packages/trl/x.py",
        "/site-packages/torch/y.py",
        "/site-packages/trl/z.py",
    ]
    assert libraries_of(ORIGINS.place(Frame(file)) for file in files) == ("trl", "torch")
