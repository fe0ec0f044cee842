# spot: clip.tokenize(texts)
import clip

ids = clip.tokenize(texts).to(device)
