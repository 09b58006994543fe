"""What the notebook "Your own model" alone uses.

budget        from minutes to a model: how fast this machine trains, what fits into the time, and which size to take
card          a model card, made from the numbers of a run
chat_stages   a chatbot in three stages, each measured on the same questions: what does each stage add?
data_doctor   what is wrong with a text, or with pairs, before a model is trained on it
exercises     exercises on making a model of one's own, and the quiz
rivals        what a model has to beat: n-grams, the most frequent answer, copying, the nearest one, the known floor
sets          three small sets of our own making, and a text file of one's own, read with care
"""
