"""Answers, text and refusals in a real tmux, to a fake agent that asks one question after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.parts.web.live import Live, Stage
from tests.patience import until

pytestmark = pytest.mark.programs


@pytest.fixture
def second_server(stage: Stage) -> Iterator[Live]:
    """Another `tally serve` of the same user."""
    live = Live(stage.folder / "live", stage.folder / "other").start(stage.environ)
    yield live
    live.stop()


def test_two_queued_questions_are_answered_once_each(stage: Stage, second_server: Live) -> None:
    """However often one answer is sent, to whatever server, one key is typed; the next question is asked about anew."""
    with httpx2.Client(base_url=stage.live.url, headers={"Authorization": f"Bearer {stage.live.token}"}) as client:
        address = until(
            lambda: next((s["address"] for s in client.get("/api/v1/waiting").json()["sessions"]), ""), "none waits"
        )

        def asked(question: str) -> dict[str, Any]:
            found = client.get("/api/v1/question", params={"address": address})
            return found.json() if found.status_code == 200 and found.json()["question"] == question else {}

        def of(question: dict[str, Any]) -> dict[str, Any]:
            return {"address": address, **{key: question[key] for key in ("pid", "start", "fingerprint")}}

        def post(route: str, body: dict[str, Any]) -> tuple[int, str]:
            found = client.post(f"/api/v1/{route}", json=body)
            return found.status_code, found.json().get("rule", "")

        first = until(lambda: asked("Do you want to proceed?"), "the first question is not seen")
        assert [choice["number"] for choice in first["choices"]] == [1, 2, 3, 4]
        process = {key: first[key] for key in ("pid", "start")} | {"address": address}
        # A text is no answer, whatever it says.
        assert post("text", {**process, "text": "1", "enter": True}) == (409, "asking")
        assert post("interrupt", process) == (409, "asking")

        async def all_at_once() -> list[int]:
            async with stage.live.client() as one, second_server.client() as other:
                servers = (one, other) * 3
                asks = (server.post("/api/v1/answer", json={**of(first), "choice": 1}) for server in servers)
                found = await asyncio.gather(*asks)
            return [answer.status_code for answer in found]

        assert sorted(asyncio.run(all_at_once())) == [200, 409, 409, 409, 409, 409]
        second = until(lambda: asked("Do you want to create new.txt?"), "the second question is not seen")
        assert stage.typed == [(0, "1")]
        # What was meant for the first one does not answer the second.
        assert post("answer", {**of(first), "choice": 1}) == (409, "changed")
        assert post("answer", {**of(second), "choice": 4}) == (409, "choice")
        assert post("answer", {**of(second), "pid": second["pid"] + 1, "choice": 3}) == (409, "process")
        assert post("answer", {**of(second), "choice": 3}) == (200, "")
        assert stage.typed == [(0, "1"), (1, "3")]

        def takes_text() -> bool:
            return bool(client.get("/api/v1/buffer", params={"address": address}).json().get("can_say"))

        until(takes_text, "it is not at its prompt")
        assert post("interrupt", process) == (409, "no-turn")
        assert post("text", {**process, "text": "say hello;"}) == (200, "")
        until(lambda: len(stage.typed) == 3, "the text has not arrived")
        text = stage.typed[2][1].replace("\x1b[200~", "").replace("\x1b[201~", "")
        assert text == "say hello;"

        # The agent leaves, and a shell, then cat, has the pane: nothing reaches them.
        stage.run("")
        stage.run("exit")
        until(lambda: stage.holder() == "sh", "the agent has not left")
        before = stage.typed
        for holder in ("sh", "cat"):
            if holder == "cat":
                stage.run(holder)
                until(lambda: stage.holder() == "cat", "cat does not run")
            shown = stage.screen()
            for route, body in (
                ("text", {"text": "touch made", "enter": True}),
                ("text", {"text": "1"}),
                ("interrupt", {}),
                ("answer", {"fingerprint": second["fingerprint"], "choice": 1}),
                ("answer", {"fingerprint": "", "choice": 1}),
            ):
                # The host may have taken the light away already.
                assert post(route, {**process, **body}) in ((409, "process"), (404, "")), (holder, route)
            assert stage.screen() == shown
        assert stage.typed == before
