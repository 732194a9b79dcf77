"""`course benchmark`: the time of each chapter, and of an ensemble's model against the plain loop."""

from __future__ import annotations

import argparse
from typing import Any


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the arguments."""
    parser = subparsers.add_parser("benchmark", help="time the chapters and the ensembles (maintainers)")
    parser.add_argument("--chapters", default="0*", metavar="GLOB", help="such as '06*'; all by default")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print both. Returns: 1 when a chapter takes more than a minute, or all of them more than four."""
    import os

    os.environ["OMP_NUM_THREADS"] = "1"
    print(ensemble_against_loop())
    return chapters(args.chapters)


def chapters(glob: str) -> int:
    """Run the chapters one after another, each in a fresh kernel, and print their times in seconds."""
    import time

    from course_lib.notebooks import execute, read
    from course_lib.project import project_root

    seconds = {}
    for path in sorted((project_root() / "notebooks").glob(f"{glob}.ipynb")):
        start = time.perf_counter()
        execute(read(path), path.parent)
        seconds[path.stem] = time.perf_counter() - start
        print(f"{path.stem:<24}{seconds[path.stem]:6.1f} s")
    print(f"{'together':<24}{sum(seconds.values()):6.1f} s")
    return 1 if max(seconds.values()) > 60 or sum(seconds.values()) > 240 else 0


def ensemble_against_loop(models: int = 200, updates: int = 200, repeats: int = 3) -> str:
    """Processor time of training: a model of an ensemble against one with a plain loop over texts."""
    import statistics
    import time

    import torch

    from course_lib import recall

    torch.set_num_threads(1)
    texts, targets = recall.training_examples()
    batch = recall.make_batch(texts, targets)

    def start(count: int) -> recall.Ensemble:
        return recall.draw_ensemble(count, 4, 0.2, torch.Generator().manual_seed(0))

    def plain_loop() -> None:
        model = recall.Ensemble(*(tensor.requires_grad_() for tensor in start(1)))
        optimiser = torch.optim.Adam(model, lr=0.03)
        alone = [recall.make_batch([text], [target]) for text, target in zip(texts, targets, strict=True)]
        for _ in range(updates):
            optimiser.zero_grad()
            losses = [recall.recall_losses(recall.forward(model, one)[0], one.targets) for one in alone]
            torch.stack(losses).mean().backward()
            optimiser.step()

    def seconds(work: Any) -> float:
        begun = time.process_time()
        work()
        return time.process_time() - begun

    plain_loop()  # the first optimiser of a process imports a good part of PyTorch
    ratios = []
    for _ in range(repeats):
        loop = seconds(plain_loop)
        each = seconds(lambda: recall.train(start(models), batch, updates, 0.03)) / models
        ratios.append(loop / each)
    low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
    return (
        f"{updates} updates: plain loop {loop:.2f} s a model, "
        f"ensemble of {models} {1000 * each:.1f} ms a model; "
        f"{middle:.0f} times less ({low:.0f} to {high:.0f} in {repeats} pairs)"
    )
