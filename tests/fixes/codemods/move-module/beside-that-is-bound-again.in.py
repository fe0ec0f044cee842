# spot: encoder.cuda()
# name: decoder
# owner: decoder
encoder, decoder = Encoder(), Decoder()
if use_gpu:
    encoder = encoder.cuda()  # one GPU
