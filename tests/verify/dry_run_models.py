"""Models that no family of the tape covers, for the dry run; small enough to run for real on a CPU."""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

SIDE, CLASSES = 16, 7


def images(micro_batch):
    return torch.zeros(micro_batch, 3, SIDE, SIDE), torch.zeros(micro_batch, dtype=torch.int64)


def classify(model, batch):
    pictures, labels = batch
    return functional.cross_entropy(model(pictures), labels)


def convnet():
    """Convolutions with batch norm, whose statistics are buffers."""
    layers = [nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(16, CLASSES)), images, classify


class UNet(nn.Module):
    """Down and up again, with a skip connection that keeps the upper level alive."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.GroupNorm(2, 8)
        self.down = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.leave = nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, x):
        skip = functional.silu(self.norm(self.enter(x)))
        up = self.up(functional.silu(self.down(skip)))
        return self.leave(torch.cat([skip, up], dim=1))


def unet():
    """Learns to take noise away; the loss is made in the step."""

    def step(model, batch):
        return functional.mse_loss(model(batch + torch.randn_like(batch)), batch)

    return UNet(), lambda micro_batch: torch.zeros(micro_batch, 3, SIDE, SIDE), step


class Translator(nn.Module):
    """An encoder and a decoder that gives its own loss."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 24)
        self.encoder = nn.GRU(24, 24, batch_first=True)
        self.cross = nn.MultiheadAttention(24, 3, batch_first=True)
        self.head = nn.Linear(24, 50)

    def forward(self, source, target):
        memory = torch.tanh(self.embedding(source))
        found, _ = self.cross(self.embedding(target), memory, memory, need_weights=False)
        return {"loss": functional.cross_entropy(self.head(found).flatten(0, 1), target.flatten())}


def encoder_decoder(sequence_length=10):
    model = Translator()
    del model.encoder

    def batch(micro_batch):
        ids = torch.zeros(micro_batch, sequence_length, dtype=torch.int64)
        return {"source": ids, "target": ids.clone()}

    return model, batch


def two_towers():
    """Contrastive: every sample is compared with every other, so what is kept is not affine in the micro-batch."""
    model = nn.ModuleDict({"image": nn.Linear(30, 12), "text": nn.Linear(20, 12)})

    def step(towers, batch):
        left = functional.normalize(towers["image"](batch[0]), dim=-1)
        right = functional.normalize(towers["text"](batch[1]), dim=-1)
        scores = left @ right.T
        labels = torch.arange(len(scores), device=scores.device)
        return (functional.cross_entropy(scores, labels) + functional.cross_entropy(scores.T, labels)) / 2

    return model, lambda b: (torch.zeros(b, 30), torch.zeros(b, 20)), step


def gan():
    """Two losses in turn; the discriminator's graph is gone before the generator's is made."""
    model = nn.ModuleDict(
        {
            "generator": nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 20)),
            "discriminator": nn.Sequential(nn.Linear(20, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1)),
        }
    )

    def verdict(model, samples, real):
        found = model["discriminator"](samples)
        wanted = torch.ones_like(found) if real else torch.zeros_like(found)
        return functional.binary_cross_entropy_with_logits(found, wanted)

    def step(model, batch):
        noise, samples = batch
        fake = model["generator"](noise)
        yield verdict(model, samples, real=True) + verdict(model, fake.detach(), real=False)
        yield verdict(model, fake, real=True)

    return model, lambda b: (torch.zeros(b, 6), torch.zeros(b, 20)), step


class Checkpointed(nn.Module):
    def __init__(self, *, reentrant):
        super().__init__()
        self.reentrant = reentrant
        self.enter = nn.Linear(8, 16)
        self.body = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 16))

    def forward(self, x):
        x = checkpoint(self.body, self.enter(x), use_reentrant=self.reentrant)
        return x.square().mean()


def checkpointed():
    return Checkpointed(reentrant=False), lambda b: torch.zeros(b, 8)


def checkpointed_reentrant():
    return Checkpointed(reentrant=True), lambda b: torch.zeros(b, 8)


class Asks(nn.Linear):
    def forward(self, x):
        if x.sum() > 0:
            x = -x
        return super().forward(x).mean()


class Selects(nn.Linear):
    def forward(self, x):
        return super().forward(x[x[:, 0] > 0]).mean()


class Copies(nn.Linear):
    def forward(self, x):
        weight = x.detach().cpu().numpy().mean()
        return super().forward(x).mean() * float(weight)


class Stumbles(nn.Linear):
    def forward(self, x):
        return super().forward(x.reshape(-1, 3)).mean()


def asks():
    return Asks(4, 4), lambda b: torch.zeros(b, 4)


def selects():
    return Selects(4, 4), lambda b: torch.zeros(b, 4)


def copies():
    return Copies(4, 4), lambda b: torch.zeros(b, 4)


def stumbles():
    return Stumbles(4, 4), lambda b: torch.zeros(b, 4)


def returns_nothing():
    return None


def no_loss():
    return nn.Linear(4, 4), lambda b: torch.zeros(b, 4)


def interrupts():
    """Ctrl-C in the middle of the second update."""
    calls = []

    def step(model, batch):
        calls.append(1)
        # Three passes for A and its constant, then two a window.
        if len(calls) > 6:
            raise KeyboardInterrupt
        return model(batch).mean()

    return nn.Linear(4, 4), lambda b: torch.zeros(b, 4), step
