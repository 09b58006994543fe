"""What the notebook "Families" alone uses.

contestants          how each family is asked
exercises            exercises on families of Transformers
exercises_inline     the exercises that stand where the notebook needs them
gap_filler           a word is hidden in a text
objectives           one text and five objectives of pretraining: what goes in, what is scored, and who may see whom
reading              what a reader looked at, and what it needed
tasks                the nine tasks of the tournament
timeline             models by year and shape
tournament           the tournament: three families, nine tasks, the same budget
tournament_explorer  the tournament as dots
unmasking            a text of masks, filled in a few passes
"""
