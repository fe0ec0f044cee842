# spot: net.tokenize(texts)
from sentence_transformers import SentenceTransformer

net = SentenceTransformer("tide", device=device)
rows = [net.tokenize(texts) for texts in columns]
