"""Run the steps of the Dockerfile without a builder: in a scratch folder, as nobody, from sources that are read-only.

    python release/container.py [PYTHON]

What stands under / in the image stands in the scratch folder. Files are copied as .dockerignore allows; each RUN of the
build is run as an unprivileged user who may write the environment and nothing else. The user of the image is not made:
its number is used. Then the entry point is started as that number, which may write the data alone, with a survey; the
health check must fail before and pass then, an answer must be stored, and the server must stop when it is told to.
Without root everything runs as the caller. What only a builder can try: the base image and its Python.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILDER = 10_002
FOLDERS = re.compile(r"(?<![\w./])/(naysay|data|source)\b")
HEALTH_SECONDS = 60


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile in order, each with its arguments on one line."""
    lines = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines if line.strip())]


def allowed(path: str) -> bool:
    """Whether .dockerignore lets a path into the build: all is left out but what is named after an exclamation mark."""
    names = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    return names[0] == "*" and f"!{path}" in names


def as_user(number: int) -> dict[str, object]:
    """How `subprocess` becomes this user; nothing where the caller cannot."""
    return {"user": number, "group": number, "extra_groups": []} if os.geteuid() == 0 else {}


def common_python() -> str:
    """An interpreter from Python 3.11 on that everybody on this machine may start."""
    for name in ("python3.13", "python3.14", "python3.12", "python3.11", "python3"):
        path = Path("/usr/bin", name)
        if path.exists() or (path := Path("/usr/local/bin", name)).exists():
            return str(path)
    return sys.executable


def main(python: str) -> None:
    """All steps in order; what fails ends it."""
    start = time.monotonic()
    steps = instructions((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        image = Path(name)
        image.chmod(0o755)

        def placed(text: str) -> str:
            return FOLDERS.sub(rf"{image}/\1", text)

        (image / "bin").mkdir()
        (image / "bin" / "python").symlink_to(python)
        for folder in ("naysay", "source", "tmp"):
            (image / folder).mkdir()
        (image / "tmp").chmod(0o1777)
        if os.geteuid() == 0:
            os.chown(image / "naysay", BUILDER, BUILDER)
        environment = {"PATH": f"{image}/bin:/usr/bin:/bin", "HOME": f"{image}/tmp", "TMPDIR": f"{image}/tmp"}
        environment |= {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "SSL_", "OPENBLAS_"))}
        user, folder, copied = 0, image, []
        settings: dict[str, list[str]] = {}
        for word, rest in steps:
            match word:
                case "WORKDIR":
                    folder = Path(placed(rest))
                case "COPY" if not rest.startswith("--from"):
                    *sources, target = rest.split()
                    for source in sources:
                        if not allowed(source):
                            raise SystemExit(f".dockerignore keeps {source} out, and the Dockerfile copies it")
                        if (ROOT / source).is_dir():
                            ignore = shutil.ignore_patterns("__pycache__")
                            shutil.copytree(ROOT / source, folder / target, ignore=ignore)
                        else:
                            shutil.copy(ROOT / source, folder / target)
                        copied.append(source)
                case "RUN" if "useradd" in rest:
                    [number], [mode] = re.findall(r"--uid (\d+)", rest), re.findall(r"-m (\d+) /data", rest)
                    (image / "data").mkdir(mode=int(mode, 8))
                    user = int(number)
                    if os.geteuid() == 0:
                        os.chown(image / "data", user, user)
                case "RUN":
                    for path in (image / "source").rglob("*"):  # nothing may be written beside the environment
                        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)
                    subprocess.run(
                        ["sh", "-ec", placed(rest)], cwd=folder, env=environment, check=True, **as_user(BUILDER)
                    )
                case "USER" if rest != str(user):
                    raise SystemExit(f"the image runs as {rest}, and {user} was made")
                case "ENV":
                    environment |= dict([rest.split("=", 1)])
                case "ENTRYPOINT" | "HEALTHCHECK" | "STOPSIGNAL":
                    settings[word] = json.loads(placed(rest[rest.index("[") :])) if "[" in rest else [rest]
        print(f"copied {', '.join(copied)}, and installed as user {BUILDER} with {python}", flush=True)
        serve(image, user, settings, environment)
    print(f"{time.monotonic() - start:.0f} seconds")


def serve(image: Path, user: int, settings: dict[str, list[str]], environment: dict[str, str]) -> None:
    """The entry point with a survey, as the image's user: healthy, taking an answer, and stopping when told."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    check = [re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{port}", word) for word in settings["HEALTHCHECK"]]
    who = as_user(user)
    command = str(image / "naysay" / "bin" / "naysay")
    shared = {"cwd": image / "data", "env": environment, **who}

    def healthy() -> bool:
        return subprocess.run(check, capture_output=True, check=False, **shared).returncode == 0

    if healthy():
        raise SystemExit("the health check passes without a server")
    subprocess.run([command, "questionnaire", "new", "survey.json", "--name", "tried"], check=True, **shared)
    server = subprocess.Popen([*settings["ENTRYPOINT"], "--yes", "--port", str(port), "survey.json"], **shared)
    try:
        deadline = time.monotonic() + HEALTH_SECONDS
        while not healthy():
            if server.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the server did not become healthy")
            time.sleep(0.2)
        answers = [command, "respond", f"http://127.0.0.1:{port}/s/tried", "--random", "1"]
        subprocess.run(answers, check=True, **shared)
    finally:
        server.send_signal(getattr(signal, settings["STOPSIGNAL"][0]))
        code = server.wait(timeout=HEALTH_SECONDS)
    if code not in (0, -signal.SIGTERM):
        raise SystemExit(f"the server ended with {code}")
    writable = [path for path in (image / "naysay").rglob("*") if who and path.lstat().st_uid == user]
    if writable:
        raise SystemExit(f"the server's user owns {writable[0]}")
    print(f"healthy as user {user or os.geteuid()}, an answer stored, stopped with {code}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:] or [common_python()])
