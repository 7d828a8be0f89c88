"""A headless Chromium, driven by its DevTools protocol: what a page does when it is opened, and how it looks."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import shutil
import subprocess
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)

AXE = Path(
    os.environ.get("AXE_CORE", "~/.cache/gitsync-ci/axe-core-4.14.1/node_modules/axe-core/axe.min.js")
).expanduser()
"""axe-core, which checks accessibility. `npm install axe-core@4.14.1` brings it; it is not part of this repository."""

FLAGS = (
    "--headless",
    "--no-sandbox",  # pages of our own, in a container that allows no namespaces
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--remote-debugging-port=0",
)
EMPTY = "about:blank"
"""What is opened first: the browser's own first page takes a third of a second."""

DESKTOP = {"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": False}
PHONE = {"width": 400, "height": 844, "deviceScaleFactor": 2, "mobile": True}
_KEYS = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    "End": (35, ""),
    "Home": (36, ""),
    "ArrowLeft": (37, ""),
    "ArrowUp": (38, ""),
    "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
}
_PATIENCE = 60  # seconds for a browser to start, or to answer; a loaded machine needs some


class Page:
    """One open page. `events` are all that the browser reported."""

    def __init__(self, socket):
        self._socket, self._numbers, self._session = socket, itertools.count(1), None
        self._waiting, self.events = {}, []

    async def listen(self):
        async for message in self._socket:
            said = json.loads(message.data)
            if "id" in said:
                self._waiting.pop(said["id"]).set_result(said)
            else:
                self.events.append(said)

    async def send(self, method, **params):
        number, answer = next(self._numbers), asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        session = {"sessionId": self._session} if self._session else {}
        await self._socket.send_json({"id": number, "method": method, "params": params, **session})
        said = await asyncio.wait_for(answer, _PATIENCE)
        assert "error" not in said, said
        return said["result"]

    async def attach(self):
        target = await self.send("Target.createTarget", url=EMPTY)
        attached = await self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.send(f"{domain}.enable")

    async def open(self, url, *, script=True, size=DESKTOP):
        """Open an address as in a new page, except that the process which shows it runs already."""
        self.events.clear()
        await self.send("Emulation.setDeviceMetricsOverride", **size)
        await self.send("Emulation.setEmulatedMedia", media="", features=[])
        await self.send("Emulation.setScriptExecutionDisabled", value=not script)
        await self.send("Page.navigate", url=url)
        await self.until(lambda: self.of("Page.loadEventFired"))

    async def until(self, holds):
        """Wait for something to hold; AssertionError where it does not."""
        for _ in range(_PATIENCE * 50):
            if holds():
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the page did not get there")

    def of(self, method):
        return [event["params"] for event in self.events if event["method"] == method]

    @property
    def requested(self):
        """Every address that the page requested, except itself and what is in it."""
        urls = [event["request"]["url"] for event in self.of("Network.requestWillBeSent")]
        return [url for url in urls[1:] if not url.startswith("data:")]

    @property
    def complaints(self):
        """What the console holds: errors, refusals by the policy, exceptions."""
        logged = [event["entry"]["text"] for event in self.of("Log.entryAdded")]
        called = [str(event["args"]) for event in self.of("Runtime.consoleAPICalled")]
        return logged + called + [str(event["exceptionDetails"]) for event in self.of("Runtime.exceptionThrown")]

    async def value(self, script):
        """What an expression gives, in the page; a promise is waited for."""
        answer = await self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def until_value(self, script):
        """Wait for an expression to be true; AssertionError where it does not become so."""
        for _ in range(_PATIENCE * 50):
            if await self.value(script):
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"{script} does not hold")

    async def press(self, key):
        """A key, as a person presses it: what the browser does with it is done."""
        code, text = _KEYS.get(key, (0, key))
        for kind in ("keyDown", "keyUp"):
            await self.send("Input.dispatchKeyEvent", type=kind, key=key, text=text, windowsVirtualKeyCode=code)

    async def picture(self, top=0, height=2000):
        """A part of the page as PNG, in the width of the window."""
        layout = await self.send("Page.getLayoutMetrics")
        clip = {"x": 0, "y": top, "width": layout["cssLayoutViewport"]["clientWidth"], "height": height, "scale": 1}
        shot = await self.send("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        return base64.b64decode(shot["data"])


@contextmanager
def started():
    """A browser of its own, which ends with the context; the address by which it is driven."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        quiet = subprocess.DEVNULL
        process = subprocess.Popen([PROGRAM, *FLAGS, f"--user-data-dir={profile}", EMPTY], stdout=quiet, stderr=quiet)
        try:
            yield _address(Path(profile) / "DevToolsActivePort", process)
        finally:
            process.terminate()
            process.wait(timeout=_PATIENCE)


def _address(file, process):
    until = monotonic() + _PATIENCE
    while monotonic() < until and process.poll() is None:
        if file.exists() and len(lines := file.read_text().split()) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
    raise AssertionError("Chromium did not start")


@asynccontextmanager
async def new_page(address):
    """A page in a browser that was started."""
    async with aiohttp.ClientSession() as session, session.ws_connect(address, max_msg_size=0) as socket:
        page = Page(socket)
        listening = asyncio.create_task(page.listen())
        await page.attach()
        yield page
        await page.send("Page.close")
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening
