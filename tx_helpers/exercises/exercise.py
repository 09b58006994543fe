"""An exercise: a task, its right answer, and the mistakes that people usually make, each as code that runs.

    scale = Exercise("scaled_scores", title="Scores", goal="…", difficulty=1, minutes=5, cases=…, hints=(…, …, …))

    @scale.solution
    def scaled_scores(Q, K):
        '''Scores (T, S) of queries (T, K) and keys (S, K).'''
        return Q @ K.T / math.sqrt(Q.shape[-1])

    @scale.mistake("Your scores are exactly √K too large: the division by √K is missing.")
    def unscaled(Q, K):
        return Q @ K.T

Mistakes that are an edit of the solution or a single expression stand in a table of text (`slips.py` has its forms):

    scale.slips('''
    squared    Q @ K.T → (Q @ K.T) ** 2
      You squared the scores …
    no_root    return Q @ K.T / Q.shape[-1]
      You divided by K, not by √K …
    ''')

The learner's starter is the solution's head and docstring, so the solution has the exercise's name. A mistake has the
right form and wrong numbers, and no two mistakes of an exercise give the same numbers on its cases: that is how `check`
tells which one was made (tested).
"""

import ast
import copy
import inspect
import symtable
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import ModuleType
from typing import NoReturn, TypedDict

import torch
from torch import Tensor

from tx_helpers.exercises.slips import entries, undecorated, wrong_answer

Answer = Callable[..., object]
Case = tuple[object, ...]  # an answer's arguments
LESSON = "tx_helpers.lessons."  # how the names of the modules begin that the handout strips of answers


class Record(TypedDict):
    """What `check` needs in an edition without the answers' code: plain values and tensors."""

    starter: str
    mistakes: list[list[str]]  # each one's name and what the learner is told
    results: dict[str, list[object]]


def _left_out(*_given: object) -> NoReturn:
    """Stands for an answer that is not there."""
    raise ValueError("Exercise: this edition comes without answers")


@dataclass(frozen=True)
class Mistake:
    """A wrong answer: its name, what the learner is told (what was done, and why it shows as it does), and its code."""

    name: str
    says: str
    make: Callable[[], object]

    @cached_property
    def answer(self) -> object:
        """The code, or the value if it is none; made when it is first asked for."""
        return self.make()


@dataclass(kw_only=True)
class Exercise:
    """One task of a notebook.

    name        for `check`, `hint` and `solution`; unique in the course
    title       a few words for its heading
    goal        what to write, in a sentence or two, with every symbol that it uses
    difficulty  1 (a line) to 3 (needs a thought)
    minutes     how long it takes somebody who has read the notebook
    cases       makes the inputs: a list of argument tuples, the smallest first, the same at every call
    hints       three of them, each saying more than the one before
    formula     the paper's, in LaTeX, without the dollars
    source      where the formula stands
    run         run(answer, *case) -> what is compared; by default answer(*case), or the answer if it is not callable
    tolerance   an entry is right if it differs by at most tolerance · (1 + |right|)
    seconds     an answer that takes longer is stopped
    one_call    a single call of a library solves it
    picture     show the learner's matrix beside the right one
    inline      it stands where the notebook needs it, not at its end; what follows uses it (`your_turn`)
    given       the methods of a class that its starter already has
    """

    name: str = field(kw_only=False)
    title: str
    goal: str
    difficulty: int
    minutes: int
    cases: Callable[[], Sequence[Case]]
    hints: Sequence[str]
    formula: str = ""
    source: str = ""
    run: Callable[..., object] | None = None
    tolerance: float = 1e-4
    seconds: float = 15.0
    one_call: bool = False
    picture: bool = False
    inline: bool = False
    given: Sequence[str] = ()
    answer: Answer = field(default_factory=lambda: _left_out, init=False)
    mistakes: list[Mistake] = field(default_factory=list, init=False)
    recorded: Record | None = field(default=None, init=False, repr=False)
    _results: dict[str, list[object]] = field(default_factory=dict, init=False, repr=False)

    def solution(self, answer: Answer) -> Answer:
        """Decorator: this is the right answer."""
        self.answer = answer
        return answer

    def mistake(self, says: str) -> Callable[[Answer], Answer]:
        """Decorator: this is a wrong answer, and what the learner is told."""

        def add(answer: Answer) -> Answer:
            self._add(answer.__name__, says, lambda: answer)
            return answer

        return add

    def slips(self, table: str) -> None:
        """Wrong answers in a table of text, which knows the names of the calling module."""
        names = sys._getframe(1).f_globals
        for name, code, says in entries(table):
            self._add(name, says, partial(wrong_answer, f"{self.name}.{name}", code, self.answer, names))

    def _add(self, name: str, says: str, make: Callable[[], object]) -> None:
        if any(mistake.name == name for mistake in self.mistakes):
            raise ValueError(f"{self.name}: two mistakes are named {name!r}")
        self.mistakes.append(Mistake(name, says, make))

    def apply(self, answer: object, case: Case) -> object:
        """The result of an answer on a case."""
        if self.run:
            return self.run(answer, *case)
        return answer(*case) if callable(answer) else answer

    def results(self) -> dict[str, list[object]]:
        """The results of the solution ("solution") and of each mistake (its name) on every case; computed once."""
        if not self.recorded and not self._results:
            answers = {"solution": self.answer, **{mistake.name: mistake.answer for mistake in self.mistakes}}
            self._results = {
                name: [self.apply(answer, copy.deepcopy(case)) for case in self.cases()]
                for name, answer in answers.items()
            }
        return self.recorded["results"] if self.recorded else self._results

    def record(self) -> Record:
        mistakes = [[mistake.name, mistake.says] for mistake in self.mistakes]
        return {"starter": self.starter(), "mistakes": mistakes, "results": self.results()}

    def use(self, record: Record) -> None:
        """Work from a record in place of the code."""
        self.recorded = record
        self.mistakes = [Mistake(name, says, _left_out) for name, says in record["mistakes"]]

    def solution_source(self) -> str:
        """The tested code of the right answer, without the decorator, with the imports that it needs."""
        code, imports = undecorated(self.answer), imports_of(self.answer)
        return "\n".join([*imports, "", "", code]) if imports else code

    def starter(self) -> str:
        """What the learner begins with: the solution's head and docstring, and a place for the code.

        A solution without arguments returns a value; its starter assigns one to a name.
        """
        if self.recorded:
            return self.recorded["starter"]
        code = undecorated(self.answer)
        (node,) = ast.parse(code).body
        if isinstance(node, ast.ClassDef):
            return _unwritten(node, code, self.given)
        if isinstance(node, ast.FunctionDef) and (node.args.args or node.args.vararg):
            return "\n".join([*code.split("\n")[: node.body[0].end_lineno], "    ...  # your code"])
        return f"{self.name} = ...  # your answer"

    def input_names(self) -> list[str]:
        """The names of a case's parts, for messages: those of the answer's arguments, or of `run`'s."""
        if self.run:
            return list(inspect.signature(self.run).parameters)[1:]  # the first one is the answer
        (statement,) = ast.parse(self.starter()).body
        return [argument.arg for argument in statement.args.args] if isinstance(statement, ast.FunctionDef) else []


def random_tensors(*shapes: tuple[int, ...], seed: int) -> tuple[Tensor, ...]:
    """Normal random tensors of these shapes for an exercise's cases, the same at every call."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


def imports_of(answer: Answer) -> list[str]:
    """The import statements that a function or class needs to run alone.

    ValueError if it stands in a notebook's module and uses names of that: an edition without answers lacks them.
    """
    used = _globals(symtable.symtable(undecorated(answer), answer.__name__, "exec"))
    home = sys.modules[answer.__module__]
    found = []
    for name in sorted(used & vars(home).keys() - {answer.__name__}):
        value = getattr(home, name)
        if isinstance(value, ModuleType):
            found.append(f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}"))
        elif getattr(value, "__module__", home.__name__) != home.__name__ or not home.__name__.startswith(LESSON):
            found.append(f"from {value.__module__} import {name}")
        else:
            raise ValueError(f"imports_of: {answer.__name__} uses {name} of its own module; a solution must run alone")
    return found


def _globals(table: symtable.SymbolTable) -> set[str]:
    """Global names that code uses, functions nested in it included."""
    outside = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return outside.union(*map(_globals, table.get_children()))


def _unwritten(node: ast.ClassDef, code: str, given: Sequence[str]) -> str:
    """The source of a class with its docstrings, whose methods are still to be written, except for those given."""
    lines = code.split("\n")
    for method in reversed(node.body):
        if isinstance(method, ast.FunctionDef) and method.name not in given:
            docstring = method.body[0].end_lineno if ast.get_docstring(method) else method.body[0].lineno - 1
            lines[docstring : method.end_lineno] = ['        raise NotImplementedError("your code")']
    return "\n".join(lines)
