"""Asks: the sweeps that a solver wants, put so that those of several problems can be made at once.

A solver that takes part is a generator: it yields what it asks of its bank, is sent the answer, and
returns what it finds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np

from .._component import Array
from ..banks import Bank
from ..banks.base import Index
from ..banks.shared import SharedSweeps

T = TypeVar("T")


class Sweep(NamedTuple):
    r"""The forms :math:`\alpha^\top K_m \alpha` of dual coefficients and, if known, the products.

    Attributes
    ----------
    G : array of shape (n_kernels,)
    V : array of shape (n_kernels, n, n_outputs) or None
        The products :math:`K_m \alpha`.
    """

    G: Array
    V: Array | None

    @classmethod
    def from_products(cls, alpha: Array, V: Array) -> Sweep:
        """The sweep whose products are known."""
        return cls(np.maximum(np.tensordot(V, alpha, axes=2), 0.0), V)

    def scaled(self, c: float) -> Sweep:
        r"""The same for :math:`c\,\alpha`."""
        return Sweep(c**2 * self.G, None if self.V is None else c * self.V)


class Ask(ABC):
    """A sweep that somebody waits for."""

    turn: ClassVar[int]  # the sweep in which most wait for the others comes last

    @abstractmethod
    def of(self, bank: Bank) -> Any:
        """The answer of a bank."""

    @classmethod
    @abstractmethod
    def together(cls, asks: Sequence[Self], sweeps: SharedSweeps, sets: Sequence[int]) -> list[Any]:
        """The answers to asks of this kind about sets of samples, from one sweep."""


Steps: TypeAlias = Generator[Ask, Any, T]


@dataclass(frozen=True)
class Combination(Ask):
    r"""The matrix :math:`\sum_m d_m K_m`; if roughly, with no more digits than the bank has."""

    d: Array
    roughly: bool
    turn: ClassVar[int] = 0

    def of(self, bank: Bank) -> Any:
        """The matrix."""
        return bank.combine_roughly(self.d) if self.roughly else bank.combine(self.d)

    @classmethod
    def together(cls, asks: Sequence[Self], sweeps: SharedSweeps, sets: Sequence[int]) -> list[Any]:
        """One matrix per ask."""
        return sweeps.combine(sets, [ask.d for ask in asks], all(a.roughly for a in asks))


@dataclass(frozen=True)
class Products(Ask):
    r"""The products :math:`K_m \alpha` of some kernels: shape (n_kernels, n, n_outputs)."""

    alpha: Array
    kernels: Index
    turn: ClassVar[int] = 1

    def of(self, bank: Bank) -> Array:
        """The products."""
        return bank.apply(self.alpha, self.kernels)

    @classmethod
    def together(cls, asks: Sequence[Self], sweeps: SharedSweeps, sets: Sequence[int]) -> list[Any]:
        """The products of each ask, out of those of all kernels that anyone asks for."""
        wanted = np.unique(np.concatenate([ask.kernels for ask in asks]))
        found = sweeps.apply(sets, [ask.alpha for ask in asks], wanted)
        return [V[np.searchsorted(wanted, ask.kernels)] for ask, V in zip(asks, found, strict=True)]


@dataclass(frozen=True)
class Forms(Ask):
    """The sweep over all kernels, with products where they are worth it."""

    alpha: Array
    products: bool = False
    turn: ClassVar[int] = 2

    def of(self, bank: Bank) -> Sweep:
        """The sweep, with products if asked for."""
        if self.products:
            return Sweep.from_products(self.alpha, bank.apply(self.alpha))
        return Sweep(bank.quadratic(self.alpha), None)

    @classmethod
    def together(cls, asks: Sequence[Self], sweeps: SharedSweeps, sets: Sequence[int]) -> list[Any]:
        """Sweeps with products, where anyone asks for them."""
        alphas = [ask.alpha for ask in asks]
        if any(ask.products for ask in asks):
            found = zip(alphas, sweeps.apply(sets, alphas), strict=True)
            return [Sweep.from_products(alpha, V) for alpha, V in found]
        return [Sweep(G, None) for G in sweeps.quadratic(sets, alphas)]


def answered(steps: Steps[T], bank: Bank) -> T:
    """What steps come to when a bank answers them alone."""
    answer: Any = None
    while True:
        try:
            ask = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        answer = ask.of(bank)


def answered_together(
    steps: Sequence[Steps[T]], sweeps: SharedSweeps, sets: Sequence[int]
) -> list[T]:
    """What several steps come to, each on a set of samples, as many as ask alike in one sweep.

    Parameters
    ----------
    steps : sequence of generators
    sweeps : SharedSweeps
    sets : sequence of int
        The set of samples that each is about, in increasing order.
    """
    results: dict[int, T] = {}
    waiting: dict[int, Ask] = {}

    def go_on(k: int, answer: Any) -> None:
        try:
            waiting[k] = steps[k].send(answer)
        except StopIteration as end:
            results[k] = end.value

    for k in range(len(steps)):
        go_on(k, None)
    while waiting:
        kind = type(min(waiting.values(), key=lambda ask: ask.turn))
        asking = [k for k in sorted(waiting) if type(waiting[k]) is kind]
        asks = [waiting.pop(k) for k in asking]
        answers = kind.together(asks, sweeps, [sets[k] for k in asking])[::-1]
        for k in asking:
            go_on(k, answers.pop())  # which lets go of it here
    return [results[k] for k in range(len(steps))]
