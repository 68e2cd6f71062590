"""PyTorch and Transformers as the oracle: what autograd keeps and how many bytes live, on shapes only."""
