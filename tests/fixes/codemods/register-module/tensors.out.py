refused: it holds tensors, which no list of torch's registers as buffers
