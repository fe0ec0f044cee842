# spot: encoder.cuda()
# name: decoder
# owner: decoder
encoder, decoder = Encoder(), Decoder()
if use_gpu:
    decoder = decoder.cuda()
    encoder = encoder.cuda()  # one GPU
