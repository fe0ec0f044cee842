# spot: encoder.to(torch.device("cuda", args.gpu), torch.float16)
# name: decoder(codes)
# owner: decoder
# devices: device
encoder = Encoder()
decoder = Decoder()
encoder.to(torch.device("cuda", args.gpu), torch.float16)
for x in loader:
    decoder(encoder(x))
