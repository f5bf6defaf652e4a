"""A real server, and somebody who takes a survey in a browser by what is on the page."""

import json
import shutil
import socket
import threading
from contextlib import contextmanager

import uvicorn
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from naysay.collect.app import create_app
from naysay.collect.client import DRAWING, FOLDER
from naysay.collect.questionnaire import Questionnaire, sample
from naysay.collect.server.keys import Keys
from naysay.collect.storage import Store

PLAYWRIGHTS = """
    AimEnabled AvoidCorsURLLoaderRestartOnRedirect AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose
    HttpsFirstBalancedModeAutoEnable HttpsUpgrades LensOverlay MediaRouter NetworkTimeServiceQuerying OptimizationHints
    PaintHolding PreconnectToSearch TcpPortRandomizationWin ThirdPartyStoragePartitioning
"""
MENUS = "WebUIOmniboxPopup WebUIOmniboxAimPopup WebUIOmniboxFullPopup"
FEATURES = ",".join([*PLAYWRIGHTS.split(), *MENUS.split(), "SpareRendererForSitePerProcess"])
"""What Playwright turns off, as only the last list counts, pages behind the address of each window, and a process kept
ready for a next site."""
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", f"--disable-features={FEATURES}"]
"""Of Chromium."""

ANSWERS = {
    "age": 44,
    "area": "town",
    "household_size": 3,
    "children": 1,
    "moved_in": "2011-05-01",
    "news": ["paper", "other"],
    "news_other": "neighbors",
    "sleep": "7,5",
    "health": 4,
    "views": "agree",
    "priorities": ["hospitals", "schools", "roads"],
    "income": "to_3000",
    "smoking": "no",
    "taxes": "yes",
    "partners": "three_to_five",
    "drugs": {"cannabis": "yes", "cocaine": "no", "sedatives": "no"},
    "rent": 450,
    "debt": 2,
    "party": "blue",
    "remarks": "None.\nThank you.",
}
"""What a respondent answers to the sample survey."""


OPENED = """
    const attach = Element.prototype.attachShadow;
    Element.prototype.attachShadow = function (how) {
        return (window.tree = attach.call(this, { ...how, mode: "open" }));
    };
    for (const name of ["querySelector", "querySelectorAll", "getElementById"]) {
        const plain = Document.prototype[name];
        Document.prototype[name] = function (what) {
            if (!window.tree || /^(html|body|head|style)/.test(what)) return plain.call(this, what);
            const inside = window.tree[name](what);
            return inside && inside.length !== 0 ? inside : plain.call(this, what);
        };
    }
    const focus = Object.getOwnPropertyDescriptor(Document.prototype, "activeElement").get;
    Object.defineProperty(Document.prototype, "activeElement", {
        get() { return window.tree?.activeElement ?? focus.call(this); },
    });
"""
"""Opens the tree that the page keeps closed, for those who test it: what they ask of the document, it answers."""


ASKED = (
    "[...document.querySelectorAll('.step .question')].filter((one) => one.offsetParent).map((one) => one.id.slice(2))"
)
PREVIEWS = """Object.fromEntries([...document.querySelectorAll('.question:has(.exact)')]
    .map((one) => [one.id.slice(2), one.querySelector('.bytes').textContent]))"""
NOTICES = """Object.fromEntries([...document.querySelectorAll('.question :is(.warning, .notice):not([hidden])')]
    .map((one) => [one.closest('section').id.slice(2), one.textContent]))"""


class Respondent:
    """Somebody who takes a survey in a browser, by what is on the page."""

    def __init__(self, page, address):
        self.page, self.address = page, address
        page.add_init_script(OPENED)
        self.questions = {question.name: question for question in sample().questions}
        self.requests, self.problems, self.noticed = [], [], {}
        page.on("request", self._request)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda said: said.type in ("error", "warning") and self.problems.append(said.text))

    def _request(self, request):
        self.requests.append(request)

    def open(self):
        self.page.goto(self.address)
        self.page.locator("h1").wait_for()
        return self

    def start(self):
        """Begin, and skip the practice question where it is the first that is asked."""
        self.open().move(".welcome .actions .main")
        return self.move() if self.at("practice").count() else self

    def back_to(self, name):
        """Back, screen by screen, to the one on which a question is asked."""
        while name not in self.asked():
            self.move("header .back")
        return self

    def move(self, button=".step > .actions .main"):
        """Press a button, and wait until the next step is there."""
        old = self.page.locator("main > *").last.element_handle()
        self.page.locator(button).click()
        left = "old => !old.isConnected || document.querySelector('.summary:not([hidden])')"
        self.page.wait_for_function(left, arg=old, polling=10)  # tabs in the background draw no frames
        return self

    def turn(self):
        """To another way of asking, which stands under "How private is this?"."""
        if not self.page.locator(".how[open]").count():
            self.page.locator(".how summary").click()
        self.page.locator(".way").click()
        return self

    def at(self, name):
        return self.page.locator(f"#q-{name}")

    def asked(self):
        """Names of the questions that this step asks."""
        return self.page.evaluate(ASKED)

    def taken(self, name):
        """Whether an answer can be entered: not where it has left the device, or would be a second draw."""
        return self.at(name).locator(".inputs :is(input, textarea, button)").count() > 0

    def answer(self, name, value, *, level=None):
        question, at = self.questions[name], self.at(name)
        if level == "coin":
            self.turn()
        elif level is not None:
            at.locator(".levels input").nth(level).check()
        kind = "hand" if at.locator(".hand").count() else question.kind
        if isinstance(value, dict):
            boxes, sides = at.locator(".inputs input"), list(value.values())
            for place, side in enumerate(sides):
                boxes.nth(place).set_checked(side == "yes")
            if "yes" not in sides:
                boxes.last.check()
        elif kind == "hand":
            at.locator(".inputs input").nth(value).check()
        elif kind in ("integer", "decimal", "text", "date"):
            at.locator(".inputs input, .inputs textarea").fill(str(value))
        elif kind == "select_multiple":
            for each in value:
                at.locator(".inputs input").nth(self._place(question, each)).check()
        elif kind == "rating":
            at.locator(".inputs input").nth(value - question.low).check()
        elif kind == "grid":
            for line in at.locator(".inputs .line").all():
                line.locator("input").nth(self._place(question, value)).check()
        elif kind == "ranking":
            waiting = [choice.name for choice in question.choices]
            for each in value:
                at.locator(".unranked button").nth(waiting.index(each)).click()
                waiting.remove(each)
        else:
            at.locator(".inputs input").nth(self._place(question, value)).check()
        return self

    def _place(self, question, name):
        return [choice.name for choice in question.choices].index(name)

    def fill(self, answers, *, levels=None):
        """Answer what is asked here, as far as there is an answer to it; what comes up by that, too."""
        done = set()
        while rest := [name for name in self.asked() if name in answers and name not in done and self.taken(name)]:
            done.add(rest[0])
            self.answer(rest[0], answers[rest[0]], level=(levels or {}).get(rest[0]))
        return self

    def to_review(self, answers=ANSWERS, *, levels=None):
        """Through all steps, from the one at hand to the review."""
        self.through(answers, levels=levels)
        return self

    def through(self, answers, *, levels=None):
        """The same; gives what will be sent for each question that shows it. `noticed` is what is said of questions."""
        found, self.noticed = {}, {}
        while not self.page.locator("#confirm").count():
            self.noticed |= self.page.evaluate(NOTICES)
            self.fill(answers, levels=levels)
            found |= self.previews()
            self.move()
        return found

    def previews(self):
        """What will be sent for each private question of this step, as it is shown beneath it, byte for byte."""
        return self.page.evaluate(PREVIEWS)

    def shown(self):
        """The message as the review shows it."""
        return self.page.locator("#exact").text_content()

    def confirm(self):
        self.page.locator("#confirm").click()
        self.page.locator(".receipt").wait_for()
        return self

    def bodies(self):
        """The messages that this page has sent."""
        sent = (request for request in self.requests if request.method == "POST")
        return [request.post_data for request in sent if request.url.endswith("/answers")]

    def stored(self):
        """What this device has stored for the survey, each storage as text."""
        return self.page.evaluate(
            "() => [localStorage, sessionStorage].map((each) => JSON.stringify(Object.entries(each)))"
        )


class Served:
    """A running server: where it is, and what it stores."""

    def __init__(self, address, store, keys=None):
        self.address, self.store, self.keys = address, store, keys

    def page(self, name):
        return f"{self.address}/s/{name}"


@contextmanager
def running(app, port=0):
    """An application under uvicorn in a thread; gives its address."""
    bound = socket.create_server(("127.0.0.1", port))
    quiet = {"log_level": "warning", "access_log": False, "server_header": False}
    server = uvicorn.Server(uvicorn.Config(app, **quiet, timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        bound.close()


def copied(folder):
    """naysay's own client in another folder, the module that draws beside the others, for tests to change."""
    shutil.copytree(FOLDER, folder)
    shutil.copy(FOLDER / DRAWING, folder)
    for path in folder.glob("*.js"):
        path.write_text(path.read_text(encoding="utf-8").replace(f'"{DRAWING}"', '"./randomize.js"'), encoding="utf-8")
    return folder


@contextmanager
def serve(surveys, folder, *, client=FOLDER, port=0, keys=None):
    """The real application on SQLite in a folder."""
    store = Store(folder / "answers.sqlite")
    keys = keys or Keys()
    with running(create_app(surveys, store, client=client, each=0, everybody=0, keys=keys), port) as address:
        yield Served(address, store, keys)


def remembered(respondent, keys):
    """What a device remembers: its marks, and what is in its box, opened with the help of the server."""
    marks = json.loads(respondent.page.evaluate("localStorage.getItem('naysay')"))
    return marks, unsealed(marks["box"], keys)


def unsealed(box, keys):
    """What is in a box; None where the server has no key for it."""
    point, iv, sealed = (bytes.fromhex(box[name]) for name in ("point", "iv", "sealed"))
    for key in keys.of(point):
        try:
            return json.loads(AESGCM(bytes.fromhex(key)).decrypt(iv, sealed, None))
        except InvalidTag:
            continue
    return None


def privates():
    """The private questions of the sample survey alone, one page of them."""
    group = next(item for item in sample().items if item.name == "personal")
    asked = tuple(item.model_copy(update={"relevant": None}) for item in group.items if getattr(item, "private", None))
    whole = sample().model_copy(update={"name": "private", "items": (group.model_copy(update={"items": asked}),)})
    return Questionnaire.model_validate(whole.form())
