# spot: net.tokenize(texts)
from sentence_transformers import SentenceTransformer

net = SentenceTransformer("tide", device=device)
rows = [{key: value.to(device) if hasattr(value, "to") else value for key, value in net.tokenize(texts).items()} for texts in columns]
