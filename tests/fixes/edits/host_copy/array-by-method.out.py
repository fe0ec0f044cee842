refused: x.astype('float') is placed already
