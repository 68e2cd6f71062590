"""BERT and ViT: encoders with a classifier on one position."""

from __future__ import annotations

from gradaccum import operations as ops
from gradaccum import products, views
from gradaccum.architecture import Architecture
from gradaccum.families import heads, parts
from gradaccum.families.attention import attend
from gradaccum.families.family import Decoder
from gradaccum.families.run import Run
from gradaccum.graph import Tensor


class Bert(Decoder):
    """BERT with a sequence-classification head: norms after each residual, a pooler on the first position."""

    def inputs(self, run: Run) -> tuple[Tensor, Tensor]:
        """Ids, and a label for each sequence."""
        if run.setting.padded:
            run.held["attention_mask"] = run.tape.new((run.batch, run.length), "int64")
        return run.tape.new((run.batch, run.length), "int64"), run.tape.new((run.batch,), "int64")

    def kinds(self, arch: Architecture) -> tuple[str, ...]:
        """All layers alike."""
        return ("full",) * arch.layers

    def start(self, run: Run, ids: Tensor) -> tuple[Tensor, parts.Shared]:
        """Words, token types and positions, added and normalised."""
        arch, tape = run.arch, run.tape
        with tape.scope("embeddings"):
            words = parts.embed_tokens(run, ids, "word_embeddings")
            # One row of zeros, looked at as often as there are sequences.
            kinds = tape.new((1, run.length), "int64")
            kinds = views.view(tape, kinds, ids.shape, (0, 1), "Expand")
            types = parts.embed(run, kinds, "token_type_embeddings", arch.token_types, arch.hidden)
            x = ops.add(tape, words, types)
            del words, types
            places = parts.embed(run, parts.buffer(run, (1, run.length)), "position_embeddings", arch.positions, arch.hidden)
            x = ops.add(tape, x, places)
            x = parts.layer_norm(run, x, "LayerNorm")
            return x, (None, parts.padding_mask(run, x.dtype))

    def by_position(self, context: parts.Shared) -> tuple[Tensor, ...]:
        """The mask."""
        return (context[1],) if context[1] else ()

    # It comes from one position alone.
    last_differs = True
    names = ("query", "key", "value")
    softmax = "plain"

    def attention(self, run: Run, x: Tensor) -> Tensor:
        """Self-attention in both directions, before its output projection."""
        arch = run.arch
        size = arch.heads * arch.head_size
        projected = [parts.heads_of(run, run.linear(x, name, size, bias=arch.qkv_bias), arch.heads) for name in self.names]
        query, key, value = projected
        del projected
        return attend(run, query, key, value, causal=False, softmax=self.softmax, masked=run.setting.padded)

    def layer(self, run: Run, x: Tensor, context: parts.Shared, kind: str) -> Tensor:
        """One layer, post-norm."""
        tape, arch = run.tape, run.arch
        with tape.scope("attention"):
            with tape.scope("self"):
                y = self.attention(run, x)
            with tape.scope("output"):
                y = run.linear(y, "dense", arch.hidden, bias=True)
                x = parts.layer_norm(run, ops.add(tape, y, x), "LayerNorm")
        del y
        with tape.scope("intermediate"):
            raised = parts.activate(run, run.linear(x, "dense", arch.mlp, bias=True))
        with tape.scope("output"):
            y = run.linear(raised, "dense", arch.hidden, bias=True)
            return parts.layer_norm(run, ops.add(tape, y, x), "LayerNorm")

    def end(self, run: Run, x: Tensor) -> Tensor:
        """The last layer has its own norm."""
        return x

    def loss(self, run: Run, x: Tensor, labels: Tensor) -> Tensor:
        """Pooler, classifier and cross entropy in the logits' dtype."""
        with run.tape.scope("pooler"):
            pooled = ops.keep_result(
                run.tape, "Tanh", run.linear(heads.first_position(run, x), "dense", run.arch.hidden, bias=True)
            )
        logits = run.linear(pooled, "classifier", run.arch.labels, bias=True)
        return heads.cross_entropy(run, logits, labels)


class Vit(Bert):
    """ViT with its classifier: patches instead of words, norms before each part."""

    names = ("q_proj", "k_proj", "v_proj")
    softmax = "fp32"

    def inputs(self, run: Run) -> tuple[Tensor, Tensor]:
        """Pixels in fp32, and a label for each image."""
        arch = run.arch
        pixels = run.tape.new((run.batch, arch.channels, arch.image, arch.image), "fp32")
        return pixels, run.tape.new((run.batch,), "int64")

    def start(self, run: Run, ids: Tensor) -> tuple[Tensor, parts.Shared]:
        """Patches projected by a convolution, the class token in front, positions added."""
        arch, tape = run.arch, run.tape
        side = arch.image // arch.patch
        run.held["pixels"] = pixels = ops.cast(tape, ids, run.setting.weight_dtype)
        with tape.scope("embeddings"):
            token = run.weight("cls_token", 1, 1, arch.hidden)
            positions = run.weight("position_embeddings", 1, side * side + 1, arch.hidden)
            with tape.scope("patch_embeddings"), tape.scope("projection"):
                kernel = run.weight("weight", arch.hidden, arch.channels, arch.patch, arch.patch)
                bias = run.weight("bias", arch.hidden)
                patches = products.convolution(tape, pixels, kernel, bias, (run.batch, arch.hidden, side, side))
            patches = views.transpose(tape, views.reshape(tape, patches, (run.batch, arch.hidden, side * side)), 1, 2)
            token = views.expand_first(tape, token, run.batch)
            x = views.cat(tape, [token, patches], (run.batch, side * side + 1, arch.hidden))
            del patches
            return ops.add(tape, x, positions), (None, None)

    def layer(self, run: Run, x: Tensor, context: parts.Shared, kind: str) -> Tensor:
        """One layer, pre-norm."""
        tape, arch = run.tape, run.arch
        normed = parts.layer_norm(run, x, "layernorm_before")
        with tape.scope("attention"):
            y = self.attention(run, normed)
            y = run.linear(y, "o_proj", arch.hidden, bias=True)
        x = ops.add(tape, y, x)
        del y
        normed = parts.layer_norm(run, x, "layernorm_after")
        with tape.scope("mlp"):
            y = parts.activate(run, run.linear(normed, "fc1", arch.mlp, bias=True))
            y = run.linear(y, "fc2", arch.hidden, bias=True)
        del normed
        return ops.add(tape, y, x)

    def end(self, run: Run, x: Tensor) -> Tensor:
        """Final norm."""
        return parts.layer_norm(run, x, "layernorm")

    def loss(self, run: Run, x: Tensor, labels: Tensor) -> Tensor:
        """Classifier on the class token, and cross entropy in the logits' dtype."""
        logits = run.linear(heads.first_position(run, x), "classifier", run.arch.labels, bias=True)
        return heads.cross_entropy(run, logits, labels)
