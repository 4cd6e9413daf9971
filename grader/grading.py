"""Grading one answer: a process for it, the hidden checks, the score, the diagnosis."""

import contextlib
from dataclasses import dataclass

import torch

from grader import answers
from grader.diagnosis import diagnose
from grader.handed_in import Trained
from grader.judge import Case, Check, Court, GraderFault
from grader.worker import Ended, Worker, WorkerLost


@dataclass
class Result:
    """The mark of one exercise. status: passed, failed, not_attempted or grader_fault."""

    name: str
    status: str
    score: float
    max_score: float
    diagnosis: str | None
    checks: list[Check]


class Grader:
    """A court and a worker that grade answers one after another. Use as a context manager, or call close()."""

    def __init__(self, seed, level=None, limits=None):
        torch.set_num_threads(1)  # references are small: threads would only wait for each other
        self.seed = seed
        self.worker = Worker(level, limits)
        self.court = Court()

    def grade(self, exercise, answer, helpers=(), handed_in=None):
        """Grade one answer, given as source, with the learner's helpers and the bytes of the file that was handed in with it.

        Returns a Result; faults of the grader are one too.
        """
        try:
            checks = self._checks(exercise, answer, helpers, handed_in)
            faults = [check for check in checks if check.fault]
            if faults:
                raise GraderFault(f"{faults[0].name}: {faults[0].message}")
        except (GraderFault, WorkerLost) as fault:
            return Result(
                exercise.name,
                "grader_fault",
                0.0,
                exercise.points,
                None,
                [Check("grader", False, str(fault), fault=True)],
            )
        passed = sum(check.passed for check in checks)
        complete = passed == len(checks)
        score = exercise.points if complete else round(exercise.points * passed / len(checks), 4)
        sentence = None
        with contextlib.suppress(Exception):  # a mistake that can't be named is no reason to give no mark
            sentence = None if complete else diagnose(exercise, checks)
        return Result(exercise.name, "passed" if complete else "failed", score, exercise.points, sentence, checks)

    def names(self, exercise):
        """The names of the hidden checks of one exercise, in order. Raises GraderFault where there is none."""
        return self.court.names(exercise.name)

    def close(self):
        self.worker.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _checks(self, exercise, answer, helpers, handed_in):
        attempt = self._fork(exercise, answers.sources(exercise, answer, helpers))
        try:
            if attempt.problem:
                return [Check(name, False, attempt.problem) for name in self.names(exercise)]
            ask = _guarded(attempt, self.worker)
            trained = Trained(exercise.name, ask, handed_in) if exercise.hands_in else None
            return self.court.hear(Case(exercise, self.seed, ask, (*helpers, answer), trained))
        finally:
            self._end(attempt)

    def _fork(self, exercise, sources):
        """A process for the answer. A worker that an earlier answer brought down is replaced once."""
        limits = self.worker.limits.with_training(exercise.budget)
        try:
            return self.worker.fork(exercise.name, sources, limits)
        except WorkerLost:
            self.worker.restart()
            return self.worker.fork(exercise.name, sources, limits)

    def _end(self, attempt):
        try:
            attempt.close()
        except WorkerLost:
            self.worker.restart()


def _guarded(attempt, worker):
    """Calls of an attempt; a worker that is lost in the middle of one counts as the answer's own end."""

    def ask(request):
        try:
            return attempt.call(request)
        except WorkerLost:
            worker.restart()
            attempt.ended = "no answer came back: the answer brought its process down"
            raise Ended(attempt.ended) from None

    return ask
