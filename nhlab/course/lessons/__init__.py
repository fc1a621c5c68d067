"""What the lessons draw and measure, a module for each.

``prediction_1()`` measures what ``predictions/NN.md`` asks and explains, ``exercise_1(answer)``
finds what is wrong with an answer to the exercise that ``solutions/NN.md`` solves.
"""
