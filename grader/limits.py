"""What an answer may take. Each limit is proven by a program that hits it (tests/test_limits.py)."""

from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True)
class Limits:
    """Seconds of wall clock and of CPU, bytes, counts; for one exercise of one submission."""

    start_seconds: float = 10.0  # definitions and imports of the answer
    call_seconds: float = 5.0  # one call, repeated and with gradients
    exercise_seconds: float = 20.0  # all calls of the exercise
    cpu_seconds: int = 20
    memory_bytes: int = 1536 << 20  # on top of what the worker has before the answer starts
    file_bytes: int = 16 << 20
    open_files: int = 64
    processes: int = 64

    def with_training(self, cpu_seconds):
        """These limits for an exercise that may train for `cpu_seconds`, three times as long by the clock."""
        return replace(
            self,
            call_seconds=self.call_seconds + 3 * cpu_seconds,
            exercise_seconds=self.exercise_seconds + 3 * cpu_seconds,
            cpu_seconds=self.cpu_seconds + cpu_seconds,
        )

    def as_dict(self):
        return asdict(self)
