"""What the notebook "Learning from reward" alone uses.

base              the two base models: each can write steps, and answers at once most of the time
baseline          a toy whose gradient is known exactly: four answers, their probabilities and their rewards
cheating          checkers to be cheated: what three of them pay for an answer that you write
checkers          what pays for an answer: the exact checker, and others that are wrong in ways which occur
dials             rate, group and KL to turn, and a training at them, update by update
exercises         exercises on learning from reward, for the notebook's end, and its quiz
exercises_inline  exercises that stand inside the notebook: a checker, the push on one choice, right at k
exercises_update  a whole GRPO update in three exercises that stand inside the notebook: advantages, ln p, the loss
exercises_votes   a majority at equal tokens in two steps
lengths           does the average of the loss make wrong answers longer? answers of free length
preferences       a reward model from preferences, and a policy that learns from it
pushes            a group of answers to one problem: what each is worth, and how hard each of its tokens is pushed
run_curves        right at k of the recorded models
runs              what reward does to the base models: runs of some seconds, and the same at five seeds, recorded
sums              sums with an exact checker, and two ways to answer
thinking          do the steps carry the answer, and what do more tokens buy?
"""
