# spot: AutoModel.from_pretrained( name, torch_dtype=torch.bfloat16, device_map="auto", )
model = AutoModel.from_pretrained(
    name,
    torch_dtype=torch.bfloat16,
)
