refused: what is quantized while it loads needs a device map
