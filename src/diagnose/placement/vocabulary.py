"""Names of torch and of the libraries around it that placement analysis knows."""

from __future__ import annotations

#: Functions of torch that make a tensor on the default device unless told otherwise.
FACTORIES = frozenset(
    {
        *(
            "tensor",
            "Tensor",
            "FloatTensor",
            "LongTensor",
            "IntTensor",
            "BoolTensor",
            "DoubleTensor",
        ),
        *("zeros", "ones", "full", "empty", "arange", "range", "linspace", "logspace", "eye"),
        *("rand", "randn", "randint", "randperm", "normal", "from_numpy", "as_tensor", "asarray"),
        *("tril_indices", "triu_indices", "hann_window", "hamming_window", "bartlett_window"),
        *("blackman_window", "kaiser_window", "frombuffer", "scalar_tensor", "ByteTensor"),
        *("sparse_coo_tensor", "fftfreq", "rfftfreq"),
    }
)
#: Functions of torch that give a tensor even where nothing is known of what they are given.
RESULTS = frozenset(
    {
        *(
            "stack",
            "cat",
            "concat",
            "where",
            "matmul",
            "mm",
            "bmm",
            "einsum",
            "softmax",
            "relu",
            "sigmoid",
        ),
        *(
            "tanh",
            "exp",
            "log",
            "sqrt",
            "sin",
            "cos",
            "pow",
            "abs",
            "clamp",
            "one_hot",
            "embedding",
            "linear",
        ),
    }
)
#: Layers without weights.
WEIGHTLESS = frozenset(
    {
        *(
            "ReLU",
            "GELU",
            "SiLU",
            "Sigmoid",
            "Tanh",
            "Softmax",
            "LogSoftmax",
            "Identity",
            "Flatten",
            "Unflatten",
        ),
        *(
            "LeakyReLU",
            "ELU",
            "Softplus",
            "Hardswish",
            "Mish",
            "ReLU6",
            "PixelShuffle",
            "ZeroPad2d",
            "Softsign",
        ),
        *(
            "CosineSimilarity",
            "PairwiseDistance",
            "Fold",
            "Unfold",
            "GLU",
            "CELU",
            "SELU",
            "Hardtanh",
        ),
    }
)
MODEL_LIBRARIES = frozenset(
    {
        *(
            "transformers",
            "diffusers",
            "timm",
            "torchvision",
            "peft",
            "sentence_transformers",
            "open_clip",
        ),
        *(
            "torch_geometric",
            "torchmetrics",
            "segmentation_models_pytorch",
            "monai",
            "kornia",
            "torchaudio",
        ),
        *(
            "adapters",
            "trl",
            "pytorch_lightning",
            "lightning",
            "accelerate",
            "optimum",
            "auto_gptq",
        ),
    }
)
#: Libraries that work on the host's memory.
HOST = frozenset({"numpy", "sklearn", "scipy", "matplotlib", "pandas", "seaborn"})
_ALIASES = {"np": "numpy", "F": "torch.nn.functional", "nn": "torch.nn", "plt": "matplotlib.pyplot"}


def plain(dotted: str) -> str:
    """A dotted name with the usual short forms spelled out."""
    root, dot, rest = dotted.partition(".")
    return f"{_ALIASES.get(root, root)}{dot}{rest}"
