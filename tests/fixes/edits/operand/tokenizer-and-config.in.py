# move-tensor-at-line
n = tokenizer + config
