"""What the peers in Python share: their options, their work, and the line they print.

The same as the crate `measure` does for the contenders in Rust.
"""

import argparse
import asyncio
import gc
import json
import resource
import time

ANSWER = "forty-two"
INSTRUCTIONS = "Answer the question with the tools at hand."
LINE = "All is well in this line. "


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--warmup", type=int, default=0)
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--observation", type=int, default=64)
    return parser.parse_args()


class Lookup:
    """The tool: tells an item by its key, and notes the CPU time whenever it is called."""

    def __init__(self, length):
        self.length = length
        self.ticks = []

    def find(self, key):
        self.ticks.append(time.process_time())
        found = f"{key} is known: "
        return (found + LINE * (self.length // len(LINE) + 1))[: max(self.length, len(found))]


def growth(work, ticks):
    """The mean cost of a step among the first and the last ten calls of the tool."""
    calls = work.steps - 1
    if work.concurrency > 1 or calls < 20 or len(ticks) != calls * work.runs:
        return None, None

    def over(start):
        spans = [ticks[run * calls + start + 9] - ticks[run * calls + start] for run in range(work.runs)]
        return sum(spans) / (9 * work.runs)

    return over(0), over(calls - 10)


def peak_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


async def run_all(make, work, kind, runs):
    numbers = iter(range(runs))

    async def worker():
        run = make()
        for number in numbers:
            answer = await run(f"What is the answer? [run {kind}-{number}]")
            if answer != ANSWER:
                raise SystemExit(f"`{kind}-{number}` answered `{answer}`")

    await asyncio.gather(*(worker() for _ in range(min(work.concurrency, runs))))


def measure(name, setup):
    """Does the work. `setup(work, lookup)` returns what makes one worker: a function that takes a
    question and awaits the answer."""
    work = options()
    lookup = Lookup(work.observation)

    async def main():
        make = setup(work, lookup)
        await run_all(make, work, "warm", work.warmup)
        lookup.ticks.clear()
        gc.collect()
        start = time.perf_counter()
        before = resource.getrusage(resource.RUSAGE_SELF)
        await run_all(make, work, "run", work.runs)
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_SELF)
        system = after.ru_stime - before.ru_stime
        early, late = growth(work, lookup.ticks)
        line = {
            "contender": name,
            "runs": work.runs,
            "wall": wall,
            "cpu": after.ru_utime - before.ru_utime + system,
            "system": system,
            "peak_kib": peak_kib(),
            "early_step": early,
            "late_step": late,
        }
        print(json.dumps(line), flush=True)

    asyncio.run(main())
