"""Gradients of bf16 parameters, summed in fp32."""

import torch


class Fp32Buffer:
    """Takes each micro-batch's gradients over and hands the sum to the optimizer."""

    def __init__(self, parameters):
        self.parameters = [p for p in parameters if p.requires_grad]
        self.sums = [torch.zeros_like(p, dtype=torch.float32) for p in self.parameters]

    def collect(self):
        """After every backward pass."""
        for parameter, total in zip(self.parameters, self.sums, strict=True):
            if parameter.grad is not None:
                total.add_(parameter.grad)  # added in fp32
                parameter.grad = None

    def release(self):
        """Before the step: rounded to the parameter's own format once."""
        for parameter, total in zip(self.parameters, self.sums, strict=True):
            parameter.grad = total.to(parameter.dtype)
            total.zero_()
