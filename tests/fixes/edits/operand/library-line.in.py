# patch-library-line
hidden = hidden + residual
