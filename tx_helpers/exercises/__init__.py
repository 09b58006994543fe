"""Exercises that name the mistake: `check` an answer, ask for a `hint`, read the `solution`, see your `progress`.

    from tx_helpers.exercises import check, hint, progress, quiz, solution

One module a notebook, `nb01` … `nb10`, holds its exercises, each with its bank of mistakes, and its quiz.
"""

from tx_helpers.exercises.checks import check, hint, solution
from tx_helpers.exercises.quizzes import quiz
from tx_helpers.exercises.record import progress

__all__ = ["check", "hint", "progress", "quiz", "solution"]
