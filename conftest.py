"""Run the chapters without progress bars: nbval takes each step of a bar for output and keeps wiped text."""

import os

os.environ["TQDM_DISABLE"] = "1"
