# devices: cpu,cuda:0
# causes: offloaded-to-cpu,low-memory-mode,module-not-moved
import torch
from diffusers import StableDiffusionPipeline

pipe = StableDiffusionPipeline.from_pretrained("sd", torch_dtype=torch.float16)
pipe.enable_model_cpu_offload()
ids = pipe.tokenizer("a cat", return_tensors="pt").input_ids.to("cuda")
emb = pipe.text_encoder.text_model.embeddings.token_embedding.weight[ids]  # fails # here
