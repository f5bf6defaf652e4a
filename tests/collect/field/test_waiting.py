"""Respondents can be scripted from anywhere: from a script, and from a notebook, where a loop runs already."""

import asyncio
import concurrent.futures
import threading

import pytest

from naysay.collect.device.post import waited


async def failing():
    raise ZeroDivisionError


def in_a_loop(call):
    """What a call gives where a loop runs: in a thread of its own, as there may be a loop in this one already."""
    outcome = []

    async def inside():
        try:
            outcome.append((call(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=lambda: asyncio.run(inside()))
    thread.start()
    thread.join(30)
    value, error = outcome[0]
    if error is not None:
        raise error
    return value


def test_a_result_comes_back_where_a_loop_runs():
    assert in_a_loop(lambda: waited(asyncio.sleep(0, "done"))) == "done"


def test_an_error_comes_back_where_a_loop_runs():
    with pytest.raises(ZeroDivisionError):
        in_a_loop(lambda: waited(failing()))


def test_an_interrupt_cancels_the_work_where_a_loop_runs(monkeypatch):
    begun, ended = threading.Event(), []

    async def long():
        try:
            begun.set()
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    def interrupted(self, timeout=None):
        assert begun.wait(30)
        raise KeyboardInterrupt

    monkeypatch.setattr(concurrent.futures.Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        in_a_loop(lambda: waited(long()))
    assert ended
