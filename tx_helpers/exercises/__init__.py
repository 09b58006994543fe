"""Exercises that name the mistake: `check` an answer, ask for a `hint`, read the `solution`, see your `progress`.

    from tx_helpers.exercises import check, hint, progress, quiz, solution

The modules `exercises…` of a lesson hold its exercises, each with its bank of mistakes, and its quiz. `your_turn`
is `check` for an exercise that the notebook goes on with, and `predict` asks before the notebook answers. `your_own`
is the model that the learner writes in the notebook on the full model. `concept_test` asks before and after the course;
`student` and `export` hand in what was done.
"""

from tx_helpers.exercises.checks import check, hint, solution
from tx_helpers.exercises.concepts import concept_test
from tx_helpers.exercises.handed_in import export
from tx_helpers.exercises.own import your_own, your_turn
from tx_helpers.exercises.predictions import predict
from tx_helpers.exercises.quizzes import quiz
from tx_helpers.exercises.solved import progress, student

__all__ = [
    "check",
    "concept_test",
    "export",
    "hint",
    "predict",
    "progress",
    "quiz",
    "solution",
    "student",
    "your_own",
    "your_turn",
]
