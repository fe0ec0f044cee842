import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, WordEmbeddings
from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

WORDS = ["red", "green", "blue"]


def encoder_on(device):
    table = torch.rand(len(WORDS), 8).numpy()
    words = WordEmbeddings(WhitespaceTokenizer(WORDS, stop_words=[]), table)
    return SentenceTransformer(modules=[words, Pooling(8, "mean")], device=device)


device = "cuda" if torch.cuda.is_available() else "cpu"
encoder = encoder_on(device)
encoder.add_module("2", Dense(8, 4))  # finds: submodule-added-after-move
encoder.add_module("3", Normalize())
features = {k: v.to(device) for k, v in encoder.preprocess(WORDS).items() if torch.is_tensor(v)}
print(encoder(features)["sentence_embedding"].shape)
