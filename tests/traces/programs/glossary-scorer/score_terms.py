"""How likely each term of a glossary is after a text, from a model whose weights wait on the cpu."""

import torch
from accelerate import cpu_offload
from peft import LoraConfig, get_peft_model
from transformers import OPTConfig, OPTForCausalLM


def load():
    config = OPTConfig(
        vocab_size=60,
        hidden_size=32,
        ffn_dim=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        word_embed_proj_dim=32,
        max_position_embeddings=64,
    )
    model = OPTForCausalLM(config).eval()
    return cpu_offload(model, execution_device=torch.device("cuda:0"))


def with_adapter(model):
    return get_peft_model(model, LoraConfig(r=4, target_modules=["q_proj", "v_proj"]))


if __name__ == "__main__":
    scorer = with_adapter(load())
    with torch.no_grad():
        logits = scorer(input_ids=torch.tensor([[5, 6, 7]], device="cuda:0")).logits
    print(logits[0, -1].topk(3))
