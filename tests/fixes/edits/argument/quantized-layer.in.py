# move-input op=quantized::linear_dynamic devices=cuda below=module
return self.fc(pooled)
