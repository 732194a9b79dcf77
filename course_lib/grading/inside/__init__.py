"""What runs inside the sandbox: all that a student's kernel sees of the part of the course that marks.

`warm_parent` imports and forks, `closing_in` closes a fork in, `pipe_kernel` is the kernel, with `frames`
for its messages and `stream` for what is printed; `huge_pages` makes forks cheaper. Linux only.
"""
