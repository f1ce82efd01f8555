"""Runs jobs in isolated workers, a few at a time, in one loop of the main thread."""

from collections.abc import Iterable, Iterator

from ci_toolkit.workers.jobs import Ended, Job, Observer
from ci_toolkit.workers.stop import Stop


def run_jobs(jobs: Iterable[Job], slots: int, stop: Stop, observe: Observer) -> Iterator[Ended]:
    """Runs ``jobs`` with at most ``slots`` workers at a time and yields each as it ends.

    When ``stop`` is set, no job starts any more, the running ones end within three seconds as ``interrupted``, and jobs
    that never started are not yielded. Call it in the main thread: a worker's keeper is tied to the thread.
    """
    raise NotImplementedError
