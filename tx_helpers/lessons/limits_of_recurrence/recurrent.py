"""Recurrent models, before the Transformer: a state is carried from word to word, h_t = f(h_{t−1}, x_t).

`RecurrentTranslator` is sequence to sequence with an RNN, LSTM or GRU (Sutskever et al. 2014; Cho et al. 2014), with or
without additive attention (Bahdanau et al. 2015). It is called, trained and decoded like `models.EncoderDecoder`. Two
experiments follow: how much of the gradient arrives over a distance, and whether a model still knows the first token
after many others.

Left out on purpose: several layers, two directions, and Bahdanau's maxout output; they change no conclusion here.
"""

from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tx_helpers.nn.arguments import check_ids, check_numbers, check_one_of
from tx_helpers.nn.attention import additive_attention
from tx_helpers.nn.masks import padding_mask

LAYERS: dict[str, type[nn.RNNBase]] = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
State = Tensor | tuple[Tensor, Tensor]  # h (1, B, D), or for an LSTM (h, c)


def new_layer(kind: str, input_size: int, hidden_size: int) -> nn.RNNBase:
    """PyTorch's recurrent layer of that kind, batch first: (B, T, input_size) -> (B, T, hidden_size)."""
    check_one_of("recurrent", LAYERS, kind=kind)
    check_numbers("recurrent", least=1, whole=True, input_size=input_size, hidden_size=hidden_size)
    return LAYERS[kind](input_size, hidden_size, batch_first=True)


class RecurrentTranslator(nn.Module):
    """Ids (B, S), (B, T) -> logits (B, T, V): the decoder starts from the encoder's last state.

    attention=False: that state is all the decoder knows of the source, however long it is: the bottleneck.
    attention=True: at every step it also gets a weighted mean of the encoder's states, c_t = Σ_j α_tj h_j with
    α_t = softmax_j(tanh(s_{t−1} W + h_j U) · v), Bahdanau et al. 2015, eq. 5 and 6, with states as rows; `capture` sees
    α as "weights".
    """

    def __init__(
        self,
        source_vocab_size: int,
        vocab_size: int,
        hidden_size: int,
        *,
        kind: str = "gru",
        attention: bool = False,
        pad_id: int | None = None,
    ):
        super().__init__()
        sizes = dict(source_vocab_size=source_vocab_size, vocab_size=vocab_size, hidden_size=hidden_size)
        check_numbers("RecurrentTranslator", sizes, least=1, whole=True)
        check_numbers("RecurrentTranslator", least=0, whole=True, optional=True, pad_id=pad_id)
        self.kind, self.hidden_size, self.pad_id = kind, hidden_size, pad_id
        self.source_tokens = nn.Embedding(source_vocab_size, hidden_size)
        self.target_tokens = nn.Embedding(vocab_size, hidden_size)
        self.encoder = new_layer(kind, hidden_size, hidden_size)
        self.decoder = new_layer(kind, hidden_size * (2 if attention else 1), hidden_size)
        self.alignment = Alignment(hidden_size) if attention else None
        self.output = nn.Linear(hidden_size * (2 if attention else 1), vocab_size)

    def encode(self, source: Tensor) -> tuple[Tensor, State]:
        """source (B, S) -> all states (B, S, D), and the last state of each row before its padding."""
        check_ids("RecurrentTranslator", self.source_tokens.num_embeddings, source=source)
        vectors = self.source_tokens(source)
        if self.pad_id is None:
            return self.encoder(vectors)
        lengths = (source != self.pad_id).sum(dim=1)
        if (lengths == 0).any():
            raise ValueError("RecurrentTranslator: a row of the source holds nothing but padding")
        packed = pack_padded_sequence(vectors, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, last = self.encoder(packed)
        return pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])[0], last

    def decode(self, target: Tensor, state: State, memory: Tensor, memory_mask: Tensor | None) -> tuple[Tensor, State]:
        """target (B, T), the decoder's state, memory (B, S, D) -> logits (B, T, V) and the next state."""
        check_ids("RecurrentTranslator", self.target_tokens.num_embeddings, target=target)
        vectors = self.target_tokens(target)
        if self.alignment is None:
            hidden, state = self.decoder(vectors, state)
            return self.output(hidden), state
        hidden = []
        for vector in vectors.split(1, dim=1):  # one word at a time: the next alignment needs this one's state
            hidden_state = state[0] if isinstance(state, tuple) else state  # (1, B, D), of an LSTM (h, c) the first
            context = self.alignment(hidden_state.transpose(0, 1), memory, memory_mask)  # (B, 1, D)
            new, state = self.decoder(torch.cat([vector, context], dim=-1), state)
            hidden.append(torch.cat([new, context], dim=-1))
        return self.output(torch.cat(hidden, dim=1)), state

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory, state = self.encode(source)
        return self.decode(target, state, memory, self._mask(source))[0]

    def start(self, source: Tensor, *, cached: bool = True) -> "RecurrentState":
        """Encode the source once and start decoding. `cached` changes nothing: the state itself is the cache."""
        memory, state = self.encode(source)
        return RecurrentState(self, state, memory, self._mask(source))

    def _mask(self, source: Tensor) -> Tensor | None:
        return None if self.pad_id is None else padding_mask(source, self.pad_id)[:, 0]  # (B, 1, S)


class Alignment(nn.Module):
    """Additive attention with its three learned parts: state (B, T, D), memory (B, S, D) -> context (B, T, D)."""

    def __init__(self, hidden_size: int):
        super().__init__()
        self.query = nn.Linear(hidden_size, hidden_size, bias=False)
        self.key = nn.Linear(hidden_size, hidden_size, bias=False)
        self.weight = nn.Parameter(torch.randn(hidden_size) * hidden_size**-0.5)

    def forward(self, state: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        return additive_attention(self.query(state), self.key(memory), memory, weight=self.weight, mask=mask)


class RecurrentState:
    """What `generation` works with: `step` feeds new ids, `select` rearranges the rows."""

    def __init__(self, model: RecurrentTranslator, state: State, memory: Tensor, memory_mask: Tensor | None):
        self.model, self.state, self.memory, self.memory_mask = model, state, memory, memory_mask

    def step(self, ids: Tensor) -> Tensor:
        """Feed new ids (B, t). Returns their logits (B, t, V)."""
        if ids.dim() != 2 or ids.shape[0] != self.memory.shape[0] or ids.shape[1] == 0:
            raise ValueError(f"step: ids of shape {tuple(ids.shape)}, expected ({self.memory.shape[0]}, t) with t >= 1")
        logits, self.state = self.model.decode(ids, self.state, self.memory, self.memory_mask)
        return logits

    def select(self, rows: Tensor) -> None:
        """Select, repeat or reorder the rows of the batch: rows (N,) of indices."""
        state = self.state
        self.state = tuple(part[:, rows] for part in state) if isinstance(state, tuple) else state[:, rows]
        self.memory = self.memory[rows]
        self.memory_mask = None if self.memory_mask is None else self.memory_mask[rows]


def gradient_by_distance(
    layer: nn.Module, length: int, *, batch: int = 16, generator: torch.Generator | None = None
) -> Tensor:
    """‖∂ Σ h_T / ∂ x_{T−d}‖ for d = 0 … length − 1, (length,): how much of the gradient arrives from d steps back.

    layer: a recurrent layer, or any module (B, T, D) -> (B, T, ·) with an `input_size`. Its last output is summed over
    its features and differentiated by each input x_t, drawn from N(0, 1); the norm is the mean over the batch. All is
    computed in float64, in which the square of 1e-30 is not rounded to 0.
    Source of the question: Bengio et al. 1994; Pascanu et al. 2013, section 2.
    """
    layer = deepcopy(layer).double()
    x = torch.randn(batch, length, layer.input_size, dtype=torch.float64, generator=generator).requires_grad_()
    outputs = layer(x)
    last = (outputs[0] if isinstance(outputs, tuple) else outputs)[:, -1]
    (gradient,) = torch.autograd.grad(last.sum(), x)
    return gradient.norm(dim=-1).mean(dim=0).flip(0)


def set_forget_bias(layer: nn.RNNBase, value: float) -> None:
    """Let the gate that keeps the old state start at σ(value): near 1 it remembers. Jozefowicz et al. 2015, 2.2.

    It is the LSTM's forget gate, and the GRU's update gate z in PyTorch's h_t = (1 − z) ⊙ n_t + z ⊙ h_{t−1}.
    """
    if not isinstance(layer, nn.LSTM | nn.GRU):
        raise ValueError(f"set_forget_bias: a layer of type {type(layer).__name__}, expected LSTM or GRU")
    with torch.no_grad():
        for name, bias in layer.named_parameters():
            if name.startswith("bias_"):  # two biases for each gate: input, forget, cell, output; or reset, update, new
                bias[layer.hidden_size : 2 * layer.hidden_size] = value if name.startswith("bias_ih") else 0.0


def recall_batch(
    noise: int, batch: int, *, keys: int = 8, symbols: int = 8, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor]:
    """The recall task: one of `keys` tokens, then `noise` others that do not matter. Which was the first?

    -> ids (B, 1 + noise) in 0 … keys + symbols − 1, and the answers (B,) in 0 … keys − 1.
    """
    if min(noise + 1, batch, keys, symbols) < 1:
        raise ValueError(f"recall_batch: noise={noise}, batch={batch}, keys={keys}, symbols={symbols}; expected >= 1")
    first = torch.randint(0, keys, (batch, 1), generator=generator)
    rest = torch.randint(keys, keys + symbols, (batch, noise), generator=generator)
    return torch.cat([first, rest], dim=1), first[:, 0]


class LastWordAttention(nn.Module):
    """The last word attends to all words (one head, no positions): (B, T, D) -> (B, 1, D)."""

    def __init__(self, hidden_size: int):
        super().__init__()
        check_numbers("LastWordAttention", least=1, whole=True, hidden_size=hidden_size)
        self.input_size = hidden_size
        self.attention = nn.MultiheadAttention(hidden_size, 1, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x[:, -1:], x, x, need_weights=False)[0]


class Recaller(nn.Module):
    """Ids (B, T) -> logits over the keys (B, keys), computed at the last token.

    kind       "rnn", "lstm", "gru": from the last state; "attention": from what `LastWordAttention` returns
    look_back  a recurrent layer's last state looks back at all states (`Alignment`), and the answer is made of both
    """

    def __init__(self, kind: str, hidden_size: int = 32, *, keys: int = 8, symbols: int = 8, look_back: bool = False):
        super().__init__()
        self.tokens = nn.Embedding(keys + symbols, hidden_size)
        self.layer = (
            LastWordAttention(hidden_size) if kind == "attention" else new_layer(kind, hidden_size, hidden_size)
        )
        self.alignment = Alignment(hidden_size) if look_back else None
        self.output = nn.Linear(hidden_size * (2 if look_back else 1), keys)

    def state(self, x: Tensor) -> Tensor:
        """Word vectors (B, T, D) -> what the model knows at the last word, (B, D); with look_back (B, 2 D)."""
        outputs = self.layer(x)
        states = outputs[0] if isinstance(outputs, tuple) else outputs
        if self.alignment is None:
            return states[:, -1]
        return torch.cat([states[:, -1], self.alignment(states[:, -1:], states)[:, 0]], dim=-1)

    def forward(self, ids: Tensor) -> Tensor:
        return self.output(self.state(self.tokens(ids)))
