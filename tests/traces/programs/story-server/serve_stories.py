import torch
from pipeline_gpt import PipelineGPT


def tokenize(prompt):
    return torch.tensor([list(prompt.encode())])


def complete(model, prompt):
    input_ids = tokenize(prompt).to("cuda")
    tokens = model.generate(input_ids, max_new_tokens=8)
    return bytes(tokens[0].tolist()).decode(errors="replace")


if __name__ == "__main__":
    storyteller = PipelineGPT().eval()
    print(complete(storyteller, "Once upon a time"))
