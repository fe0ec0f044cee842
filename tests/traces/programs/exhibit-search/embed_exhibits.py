"""Embeds photographs of exhibits by SmolVLM's vision tower, for a search by likeness."""

import torch
from transformers.models.smolvlm.configuration_smolvlm import SmolVLMVisionConfig
from transformers.models.smolvlm.modeling_smolvlm import SmolVLMVisionTransformer


def vision_tower():
    config = SmolVLMVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=64,
        patch_size=16,
    )
    return SmolVLMVisionTransformer(config).eval()


@torch.inference_mode()
def embed(tower, photographs):
    states = tower(pixel_values=photographs).last_hidden_state
    return torch.nn.functional.normalize(states.mean(dim=1), dim=-1)


def main():
    device = torch.device("cuda")
    tower = vision_tower().to(device)
    exhibits = torch.rand(4, 3, 64, 64).to(device)
    likeness = embed(tower, exhibits) @ embed(tower, exhibits[:1]).t()
    print(likeness.squeeze(1).topk(2))


if __name__ == "__main__":
    main()
