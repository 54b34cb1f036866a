"""Run attacks with new seeds for a given time (`make fuzz`), or repeat one by its seed."""

import argparse
import faulthandler
import secrets
import sys
import time

from fuzz.attacks import MODULES, repeat, run_attack


def main() -> int:
    """Run attacks until the time is up; 1 where one has failed."""
    args = _parse()
    faulthandler.enable()
    if args.seed is not None:
        for name in args.modules:
            run_attack(name, args.seed)
            print(f"{name}, seed {args.seed}: held")
        return 0
    n_failed = sum(_fuzz(name, args.seconds / len(args.modules)) for name in args.modules)
    return 1 if n_failed else 0


def _fuzz(name: str, seconds: float) -> int:
    """Attacks of one module, seed after seed from a new one; how many have failed."""
    seed, end, n_done, n_failed = secrets.randbelow(2**40), time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        # Before the attack: it may take the process with it.
        print(f"\r{name}: {n_done} attacks, {n_failed} failed; {repeat(name, seed)} ", end="")
        sys.stdout.flush()
        try:
            run_attack(name, seed)
        except AssertionError as error:
            n_failed += 1
            print(f"\n{error}\n", flush=True)
        seed, n_done = seed + 1, n_done + 1
    print(f"\r{name}: {n_done} attacks, {n_failed} failed{'':60}")
    return n_failed


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz.run", description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(MODULES), help="(default: all)")
    parser.add_argument("--seconds", type=float, default=600, help="in all (default: 600)")
    parser.add_argument("--seed", type=int, help="run this attack only, and show its error")
    args = parser.parse_args()
    unknown = set(args.modules) - set(MODULES)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))} is not one of {', '.join(MODULES)}")
    return args


if __name__ == "__main__":
    sys.exit(main())
