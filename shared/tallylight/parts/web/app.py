"""
The ASGI application: REST and a WebSocket over the state of all hosts. https://fastapi.tiangolo.com

`Service` connects a `Guard`, a source of snapshots and the client for panes; nothing here opens a socket. Files are
read and multiplexers queried on other threads, so a slow answer delays no other.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

import attrs
from fastapi import Body, Depends, FastAPI, HTTPException, Query, Request, Security, WebSocket, WebSocketDisconnect
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.security import HTTPBearer
from starlette.types import ASGIApp

from tallylight import __version__
from tallylight.actions.answer import Answer, Done, Question
from tallylight.actions.caller import PERSON, Caller, Who
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.permission import PERSON_ONLY
from tallylight.actions.request import QUESTION, SILENT, Given, LookRequest, Reply
from tallylight.actions.say import Interrupt, Say
from tallylight.model.errors import TallyError
from tallylight.model.lights import COLOURS, RGB
from tallylight.model.repository_status import RepositoryStatus
from tallylight.model.status import Status
from tallylight.parts.web import model, of_parts
from tallylight.parts.web.answering import UNREACHED, Answering
from tallylight.parts.web.assets import Asset, all_assets
from tallylight.parts.web.devices import Devices
from tallylight.parts.web.guard import SUBPROTOCOL, Guard
from tallylight.parts.web.hub import Hub
from tallylight.parts.web.middleware import DEVICE, NO_SESSION, PROBLEMS, AccessMiddleware, RefusedError, refused, unfit
from tallylight.parts.web.signing import Signing
from tallylight.snapshot.addresses import Row, in_order, labelled
from tallylight.snapshot.labels import Labels
from tallylight.snapshot.rows import listed
from tallylight.snapshot.schema import Snapshot
from tallylight.ui.repository_text import Watch

if TYPE_CHECKING:
    from tallylight.parts.web.push.routes import Push  # an installation may lack it

#: How often, in seconds, the hosts' snapshots are read.
POLL_HOSTS_S = 0.1
#: A listener that does not take its messages for so many seconds is disconnected.
SEND_S = 20.0
#: Queries to multiplexers at a time.
MAX_QUERIES = 8
_LOG = logging.getLogger("uvicorn.error")
ReadAll = Callable[[], Sequence[Snapshot] | None]
#: Returns the sender of a request; called on a thread.
Asking = Callable[[Request], Caller]
Address = Annotated[model.Address, Query(description="as in `sessions`: `sessions-4711:tmux/12/%3`")]
_T = TypeVar("_T")


@attrs.define(eq=False)
class Service:
    """
    The state and the routes of the server.

    *read_all* returns the snapshots of all hosts, or None without a change; it is called on another thread. *client*
    reaches the panes; the page has lights in these *colours*. *watch* follows the repositories of agents while a
    listener is connected. *labels* returns the names of conversations; *stale* why the state may be out of date, as
    `Feed.stale`. *push* sends messages to browsers, if installed; *asking* returns the sender of a request; *devices*
    are the browsers that stay signed in.
    """

    _guard: Guard
    _read_all: ReadAll
    _client: PaneClient
    _colours: Mapping[Status, RGB] = COLOURS
    _watch: Watch | None = None
    _labels: Callable[[], Labels] = Labels
    _stale: Callable[[], str] = str
    _push: Push | None = None
    _asking: Asking = lambda _request: PERSON
    _devices: Devices | None = None
    _answering: Answering = attrs.field(
        init=False, default=attrs.Factory(lambda self: Answering(self._client), takes_self=True)
    )
    #: Wakes each listener, with its device; empty for one with the token.
    _listening: dict[asyncio.Event, str] = attrs.field(init=False, factory=dict)
    #: Branch, changes and pull request of agents, by `Pane.agent_pid`.
    _repositories: Mapping[int, RepositoryStatus] = attrs.field(init=False, factory=dict)
    _is_followed: bool = attrs.field(init=False, default=False)
    #: For queries that wait for a multiplexer or a terminal: the state of the hosts is read on other threads.
    _threads: ThreadPoolExecutor = attrs.field(init=False, factory=lambda: ThreadPoolExecutor(MAX_QUERIES, "ask"))
    _found: dict[str, Row] = attrs.field(init=False, factory=dict)
    _fault: str = attrs.field(init=False, default="")
    _hub: Hub = attrs.field(init=False, factory=Hub)
    _asked: asyncio.Semaphore = attrs.field(init=False, factory=lambda: asyncio.Semaphore(MAX_QUERIES))

    def app(self) -> ASGIApp:
        app = FastAPI(
            title="Tallylight",
            version=__version__,
            description="The state and questions of all coding agents on this machine.",
            lifespan=self.lifespan,
            docs_url=None,
            redoc_url=None,
            openapi_url="/openapi.json",
        )
        app.exception_handler(RequestValidationError)(unfit)
        app.exception_handler(RefusedError)(refused)
        self._add_routes(app)
        for path, asset in all_assets(self._colours).items():
            app.get(f"/{path}", include_in_schema=False)(_route_to(asset))
        return AccessMiddleware(app, self._guard)

    @contextlib.asynccontextmanager
    async def lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        """Follow the hosts for as long as the server runs."""
        if self._push is not None:
            await asyncio.to_thread(self._push.start)
        if self._devices is not None:
            await asyncio.to_thread(self._devices.poll)
        await self._look()
        tasks = [asyncio.create_task(self._follow()), asyncio.create_task(self._follow_devices())]
        yield
        if self._push is not None:
            self._push.close()
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _follow(self) -> None:
        """Look for changes again and again, for as long as the server runs."""
        while True:
            await asyncio.sleep(POLL_HOSTS_S)
            await self._look()

    async def _follow_devices(self) -> None:
        """Disconnect devices that were signed out, from the page or by another process."""
        while self._devices is not None:
            await asyncio.to_thread(self._devices.poll)
            for wake, device in self._listening.items():
                if not self._is_in(device):
                    wake.set()
            await asyncio.sleep(POLL_HOSTS_S)

    def _is_in(self, device: str) -> bool:
        return self._devices is None or self._devices.is_in(device)

    async def _look(self) -> None:
        """Read the hosts' state. A fault costs this look only, and is reported once."""
        try:
            snapshots = await asyncio.to_thread(self._read_all)
            if snapshots is not None:
                every = (Row(host.name, pane) for host in snapshots for pane in host.panes)
                panes = in_order(labelled(every, self._labels()), time.time())
                self._found = {found.address: found for found in listed(panes)}
                self._answering.keep([found.pane.id for found in self._found.values()])
            if self._push is not None:
                self._push.look(self._found.values())
            if self._look_at_repositories(is_new=snapshots is not None):
                state = {address: self._session(found) for address, found in self._found.items()}
                self._hub.publish(state, self._stale())
        except Exception as error:  # listeners get the next change all the same
            fault = f"{type(error).__name__}: {error}"
            if fault != self._fault:
                self._fault = fault
                _LOG.error("the state of the hosts could not be read: %s", fault)

    def _look_at_repositories(self, *, is_new: bool) -> bool:
        """Take the repositories' new state, if a listener is connected; return whether anything is new."""
        was_followed, self._is_followed = self._is_followed, len(self._hub) > 0
        now = time.monotonic()
        if self._watch is None or not self._is_followed or not (is_new or not was_followed or now >= self._watch.due()):
            return is_new
        if self._watch.poll([found.pane for found in self._found.values()], now):
            self._repositories = self._watch.known
            return True
        return is_new

    def _session(self, found: Row) -> model.Session:
        return model.session_of(
            found,
            self._repositories.get(found.pane.agent_pid or 0),
            can_see=self._answering.can_see(found),
            can_type=self._answering.can_type(found),
        )

    # Routes --------------------------------------------------------------------------------------------------

    def _add_routes(self, app: FastAPI) -> None:
        # The token is checked by the middleware; this states it in the document.
        guarded: dict[str, Any] = {"dependencies": [Security(HTTPBearer(auto_error=False))], "responses": PROBLEMS}
        one: dict[str, Any] = {**guarded, "responses": {**PROBLEMS, **NO_SESSION}}
        app.get("/api/v1/sessions", response_model=model.Sessions, **guarded)(self.sessions)
        app.get("/api/v1/waiting", response_model=model.Sessions, **guarded)(self.waiting)
        app.get("/api/v1/counts", response_model=model.Counts, **guarded)(self.counts)
        app.get("/api/v1/session", response_model=model.Session, **one)(self.session)
        app.get("/api/v1/buffer", response_model=model.Buffer, **one)(self.buffer)
        app.get("/api/v1/question", response_model=model.Question, **one)(self.question)
        app.post("/api/v1/answer", response_model=model.Done, **one)(self.answer)
        app.post("/api/v1/text", response_model=model.Done, **one)(self.text)
        app.post("/api/v1/interrupt", response_model=model.Done, **one)(self.interrupt)
        refusing: dict[str, Any] = {**guarded, "responses": {**PROBLEMS, 409: NO_SESSION[409]}}
        person = {**refusing, "dependencies": [*guarded["dependencies"], Depends(self._person_only)]}
        if self._push is not None:
            self._push.add_routes(app, guarded, refusing, person)
        if self._devices is not None:
            Signing(self._guard, self._devices).add_routes(app, refusing, person)
        of_parts.add_routes(app, guarded)
        app.websocket("/api/v1/changes")(self.changes)

    async def sessions(self, status: model.StatusWord | None = None) -> model.Sessions:
        """Return every session with an agent, most urgent first; only those with *status* if it is given."""
        found = [self._session(found) for found in self._found.values()]
        found = [session for session in found if status in (None, session.status)]
        return model.Sessions(sessions=found, stale=self._stale())

    async def waiting(self) -> model.Sessions:
        """Return the sessions that wait for a person, the longest first."""
        return await self.sessions("waiting")

    async def counts(self) -> model.Counts:
        """Return how many sessions have each status."""
        shown = Counter(found.pane.status for found in self._found.values())
        counts: dict[model.StatusWord, int] = {status: shown[Status(status)] for status in get_args(model.StatusWord)}
        return model.Counts(counts=counts, total=len(self._found))

    async def session(self, address: Address) -> model.Session:
        """Return one session."""
        return self._session(self._pick(address))

    async def buffer(self, address: Address, request: Request) -> model.Buffer:
        """Return the screen of one session at this moment, its question, and the possible actions."""
        return await self._ask(address, request, self._answering.view)

    async def question(self, address: Address, request: Request) -> model.Question:
        """Return the question of one session at this moment, with the values that an answer needs."""
        asked = await self._perform(address, request, lambda pane: LookRequest(pane, QUESTION))
        if not isinstance(asked, Question):
            raise RefusedError(SILENT)
        return model.question_of(address, asked)

    async def answer(self, given: Annotated[model.Answer, Body()], request: Request) -> model.Done:
        """Choose one answer of a question. Typed only if the whole screen is as it was when the question was read."""
        chosen = (given.pid, given.start, given.fingerprint, given.choice)
        return await self._type(given.address, request, lambda pane: Answer(pane, *chosen))

    async def text(self, given: Annotated[model.Text, Body()], request: Request) -> model.Done:
        """Type text for an agent at its prompt, or with a question that takes any text."""
        typed = (given.pid, given.start, given.text, given.enter, given.fingerprint)
        return await self._type(given.address, request, lambda pane: Say(pane, *typed))

    async def interrupt(self, given: Annotated[model.Interrupt, Body()], request: Request) -> model.Done:
        """Press the agent's key to stop, if it is at work."""
        return await self._type(given.address, request, lambda pane: Interrupt(pane, given.pid, given.start))

    async def _person_only(self, request: Request) -> None:
        """Raise `RefusedError` unless a person sends *request*."""
        who = await asyncio.get_running_loop().run_in_executor(self._threads, self._asking, request)
        if who.who is not Who.PERSON:
            raise RefusedError(PERSON_ONLY)

    async def _type(self, address: str, request: Request, given: Callable[[str], Given]) -> model.Done:
        """Type the text or keys that *given* makes for a pane id, for the sender of *request*."""
        self._guard.check_write(time.monotonic())
        done = await self._perform(address, request, given)
        if not isinstance(done, Done):
            raise RefusedError(SILENT)
        return model.Done(address=address, done=done.text)

    async def _perform(self, address: str, request: Request, asked: Callable[[str], Given | LookRequest]) -> Reply:
        perform = self._answering.perform
        return await self._ask(address, request, lambda found, caller: perform(found, asked(found.pane.id), caller))

    async def changes(self, socket: WebSocket) -> None:
        """Send every change, as it happens: `model.Event` as JSON, the first with every session."""
        wake, device = asyncio.Event(), socket.scope[DEVICE]
        listener = self._hub.join(wake.set)
        if listener is None:
            await socket.close(1013, "too many listeners")
            return
        try:
            await socket.accept(SUBPROTOCOL)
            self._listening[wake] = device
            wake.set()
            gone = asyncio.create_task(_drain(socket))
            while not gone.done() and self._is_in(device):
                woken = asyncio.create_task(wake.wait())
                await asyncio.wait((woken, gone), return_when=asyncio.FIRST_COMPLETED)
                woken.cancel()
                wake.clear()
                for message in self._hub.take(listener) if self._is_in(device) else ():
                    await asyncio.wait_for(socket.send_text(message), SEND_S)
            if gone.cancel():
                await socket.close(1008, "signed out")
        except (TimeoutError, RuntimeError, OSError, WebSocketDisconnect):
            with contextlib.suppress(RuntimeError, OSError):
                await socket.close(1008, "too slow")
        finally:
            self._hub.leave(listener)
            self._listening.pop(wake, None)

    def _pick(self, address: str) -> Row:
        """Return the row at *address*; raise an error for the reply 404 without one."""
        found = self._found.get(address)
        if found is None:
            raise HTTPException(404, "there is no such session")
        return found

    async def _ask(self, address: str, request: Request, ask: Callable[[Row, Caller], _T | Refusal]) -> _T:
        """Return the result of *ask* for a session and the sender of *request*, on a thread; raise `RefusedError`."""
        found = self._pick(address)
        if not self._answering.can_see(found):
            raise RefusedError(UNREACHED)
        if self._asked.locked():
            raise HTTPException(503, "too many requests at once")
        async with self._asked:
            try:
                answer = await asyncio.get_running_loop().run_in_executor(
                    self._threads, lambda: ask(found, self._asking(request))
                )
            except (TallyError, OSError) as error:
                raise RefusedError(Refusal("unreachable", str(error))) from None
        if isinstance(answer, Refusal):
            raise RefusedError(answer)
        return answer


async def _drain(socket: WebSocket) -> None:
    """Wait until the listener disconnects; ignore its messages."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


def _route_to(asset: Asset) -> Callable[[], Awaitable[Response]]:
    async def answer() -> Response:
        return Response(asset.content, media_type=asset.kind)

    return answer
