"""The catalogue of cheats: what each tries, what stops it, and where it is seen to work.

`python -m cheats`, with tests/ on the path, or `make cheats` prints the points that each gets from stock
nbgrader and from the course's marking.
"""
