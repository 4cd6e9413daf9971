from torch import nn


class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))  # noqa: F821

    def forward(self, x):
        if x.shape[1] > len(self.pe):
            raise ValueError(f"{x.shape[1]} positions are more than max_len = {len(self.pe)}")
        return self.dropout(x + self.pe[: x.shape[1]].to(x.dtype))
