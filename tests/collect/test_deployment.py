"""The files in deploy/ do what they say: checked by the programs that read them, and by real proxies before servers."""

import contextlib
import http.client
import json
import re
import secrets
import shlex
import shutil
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
import typer
import yaml

from naysay.cli import app
from naysay.collect import Published
from naysay.collect.app import create_app
from naysay.collect.questionnaire import Questionnaire, Text
from naysay.collect.server import keys as certificates
from naysay.collect.serving import background, bound
from naysay.collect.storage import Store

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = ["naysay.service", "naysay@.service"]
PROXIES = {"nginx": "nginx.conf", "caddy": "Caddyfile"}


def text(name):
    return (DEPLOY / name).read_text(encoding="utf-8")


def options(command):
    """The options of ``naysay serve`` that a command gives."""
    known = {name for each in typer.main.get_command(app).commands["serve"].params for name in each.opts}
    given = {word for word in command if word.startswith("--")}
    return given, known


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_is_valid_and_starts_a_server(name, tmp_path):
    [command] = re.findall(r"^ExecStart=(.+)$", text(name), re.MULTILINE)
    words = shlex.split(command.replace("%i", "8001"))
    assert words[:2] == ["/usr/local/bin/naysay", "serve"]
    given, known = options(words)
    assert given
    assert given <= known
    settings = dict(line.split("=", 1) for line in text(name).splitlines() if "=" in line and not line.startswith("#"))
    assert settings["LimitCORE"] == "0"  # memory with answers is never written to a disk
    assert settings["UMask"] == "0077"
    if shutil.which("systemd-analyze"):
        place = tmp_path / name
        place.write_text(text(name).replace("/usr/local/bin/naysay", sys.executable), encoding="utf-8")
        told = subprocess.run(["systemd-analyze", "verify", place], capture_output=True, text=True, check=False)
        assert (told.returncode, told.stderr) == (0, "")


def test_the_containers_fit_together():
    form = yaml.safe_load(text("compose.yaml"))
    servers = [each for name, each in form["services"].items() if name.startswith("server")]
    assert len(servers) == 2
    for each in servers:
        given, known = options(each["command"])
        assert given <= known
        assert (
            each["environment"]["FORWARDED_ALLOW_IPS"]
            == form["services"]["proxy"]["networks"]["inside"]["ipv4_address"]
        )
        volumes = dict(volume.split(":")[:2] for volume in each["volumes"])
        assert form["volumes"]["keys"]["driver_opts"]["type"] == "tmpfs"
        assert each["command"][each["command"].index("--keys") + 1] == volumes["keys"]
    for each in form["services"].values():
        assert (each["read_only"], each["cap_drop"], each["security_opt"]) == (
            True,
            ["ALL"],
            ["no-new-privileges:true"],
        )
        assert set(each.get("cap_add", ())) <= {
            "CHOWN",
            "DAC_OVERRIDE",
            "FOWNER",
            "SETGID",
            "SETUID",
            "NET_BIND_SERVICE",
        }
    assert not any("cap_add" in each for each in servers)
    docker = (DEPLOY.parent / "Dockerfile").read_text(encoding="utf-8")
    [user] = re.findall(r"--uid (\d+)", docker)
    assert f"uid={user}," in form["volumes"]["keys"]["driver_opts"]["o"]
    upstreams = re.search(r"reverse_proxy (.*) \{", text("Caddyfile.compose"))[1].split()
    assert upstreams == [f"{name}:8000" for name in form["services"] if name.startswith("server")]
    alone, inside = (text(name).partition("{")[2] for name in ("Caddyfile", "Caddyfile.compose"))
    alone = alone.replace("survey.example.org", "{$NAYSAY_HOST}")
    assert alone.replace("127.0.0.1:8001 127.0.0.1:8002", " ".join(upstreams)) == inside


def written(program, ports, port, own, folder):
    """The configuration of deploy/, with the ports and the certificate of the test in place of its own."""
    found = text(PROXIES[program])
    for shipped, real in zip(("127.0.0.1:8001", "127.0.0.1:8002"), ports, strict=True):
        assert shipped in found
        found = found.replace(shipped, f"127.0.0.1:{real}")
    if program == "nginx":
        changes = {
            "listen 80;": "listen 127.0.0.1:0;",
            "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
            "/etc/ssl/survey/chain.pem": str(own.certificate),
            "/etc/ssl/survey/key.pem": str(own.key),
        }
        head = f"pid {folder}/pid; daemon off;\n"
        changes["listen 127.0.0.1:0;"] = f"listen unix:{folder}/http;"
    else:
        head = ""
        changes = {
            "{\n\tlog {\n\t\texclude": "{\n\tadmin off\n\tauto_https disable_redirects\n\tlog {\n\t\texclude",
            "survey.example.org {": f"https://127.0.0.1:{port} {{\n\ttls {own.certificate} {own.key}",
        }
    for shipped, real in changes.items():
        assert shipped in found
        found = found.replace(shipped, real)
    place = folder / PROXIES[program]
    place.write_text(head + found, encoding="utf-8")
    return place


@contextlib.contextmanager
def proxy(program, ports, folder, until):
    """The real proxy before servers at these ports; its port, and the file of all that it wrote."""
    assert shutil.which(program), f"the tests need {program}: scripts/browsers brings it"
    with bound("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    with certificates.temporary_certificate(["127.0.0.1"]) as own, (folder / "output.txt").open("wb") as out:
        place = written(program, ports, port, own, folder)
        how = (
            ["-c", place, "-p", folder] if program == "nginx" else ["run", "--adapter", "caddyfile", "--config", place]
        )
        command = [shutil.which(program), *map(str, how)]
        environment = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        running = subprocess.Popen(command, stdout=out, stderr=out, env=environment, cwd=folder)
        try:
            until(lambda: running.poll() is not None or reached(port, own), seconds=20)
            assert running.poll() is None, (folder / "output.txt").read_text()
            yield port, own
        finally:
            running.terminate()
            running.wait()


def reached(port, own):
    with contextlib.suppress(OSError):
        return asked(port, own, "/health")[0] == 200
    return False


def asked(port, own, path, *, body=None, source="127.0.0.1", **headers):
    """The status and the headers of a response through the proxy, to somebody at another address of this computer."""
    context = ssl.create_default_context(cafile=str(own.certificate))
    connection = http.client.HTTPSConnection("127.0.0.1", port, source_address=(source, 0), context=context, timeout=20)
    with contextlib.closing(connection):
        sent = {"content-type": "application/json", **headers} if body else headers
        connection.request(
            "POST" if body else "GET", path, body, {name.replace("_", "-"): value for name, value in sent.items()}
        )
        told = connection.getresponse()
        told.read()
        return told.status, told.headers


def body(published, word):
    """A body as a device pads it."""
    form = {"naysay": "answers", "version": 1, "survey": published.hash, "id": secrets.token_hex(16)}
    form |= {"answers": {"why": word}, "padding": ""}
    form["padding"] = " " * (published.body_length - len(json.dumps(form, separators=(",", ":"))))
    return json.dumps(form, separators=(",", ":"))


@pytest.mark.parametrize("program", [each for each in PROXIES if shutil.which(each)] or ["nginx"])
def test_a_proxy_before_two_servers_takes_answers_and_keeps_nothing_of_who_sent_them(
    program, tmp_path, postgresql, until
):
    asks = Text(name="why", label={"en": "Why?"}, max_length=5_000)  # a body is longer than proxies hold by default
    form = Questionnaire(name="short", title={"en": "Short"}, languages=("en",), items=(asks,))
    published = Published.of(form)
    store = Store(postgresql.url(postgresql.new_database()))
    store.open(published)
    with contextlib.ExitStack() as first, background(create_app(store=store, each=3)) as second:
        links = [first.enter_context(background(create_app(store=store, each=3))), second]
        with proxy(program, [link.rpartition(":")[2] for link in links], tmp_path, until) as (port, own):
            status, headers = asked(port, own, "/s/short")
            assert (status, headers["strict-transport-security"]) == (200, "max-age=31536000")
            assert len(headers.get_all("content-security-policy")) == 1
            first.close()  # one of the servers is stopped: the other one takes its place
            answers, secret = "/s/short/answers", "eleven-herons"
            # Caddy says 502 until it knows that the server is gone; the page then sends the same again
            for message in [body(published, secret) for _ in range(3)]:
                until(lambda: asked(port, own, answers, body=message, source="127.0.0.2")[0] in (200, 201))  # noqa: B023
            # a made-up address does not lift the limit of the real one; Caddy says 502 if the body was not read
            spoofed = {"x_forwarded_for": "192.0.2.77"}
            told = asked(port, own, answers, body=body(published, secret), source="127.0.0.2", **spoofed)
            assert told[0] in (429, 502)
            message = body(published, secret)
            until(lambda: asked(port, own, answers, body=message, source="127.0.0.3")[0] in (200, 201))
        assert {each.replies for each in store.surveys()} == {4}
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".pem")
    assert not re.search(rb"127\.0\.0\.[23]|192\.0\.2\.77", kept)
    assert secret.encode() not in kept
    store.dispose()
