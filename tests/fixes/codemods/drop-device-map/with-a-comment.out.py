# spot: AutoModel.from_pretrained( name, device_map="auto", torch_dtype=torch.bfloat16, )
model = AutoModel.from_pretrained(
    name,
    torch_dtype=torch.bfloat16,
)
