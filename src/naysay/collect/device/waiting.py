"""Waiting for what is asynchronous inside, wherever the caller is: a script, a test, a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["waited"]

T = TypeVar("T")


def waited(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, also where this thread runs a loop already, as notebooks do.

    An interrupt cancels the work, and is raised when it has ended.

    Examples
    --------
    >>> waited(asyncio.sleep(0, "done"))
    'done'
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(loop.run_until_complete, task).result()
        except BaseException:
            loop.call_soon_threadsafe(task.cancel)
            raise
        finally:
            pool.submit(loop.close)
