"""Answer links: made with the token, used without it, once, and only for the question they were made for."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from starlette.testclient import TestClient

from tallylight.serve import links
from tallylight.serve.links import MAX_LINKS, VALID_S, Links, chosen
from tests.actions.desk import seen
from tests.actions.test_brief import QUESTION
from tests.serve.serving import ONE, PORT, PROCESS, TOKEN, Served
from tests.tables import each


def asked(client: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/v1/question", params={"address": ONE}).json()
    return found


def made(client: TestClient) -> str:
    """The path of a new link to what is asked now."""
    answer = client.post("/api/v1/link", json={**PROCESS, "fingerprint": asked(client)["fingerprint"]})
    assert (answer.status_code, answer.json()["valid_s"]) == (200, VALID_S)
    path: str = answer.json()["path"]
    return f"/{path}"


@pytest.fixture
def phone(client: TestClient) -> TestClient:
    """Somebody with a link and without the token."""
    return TestClient(client.app, base_url=f"http://127.0.0.1:{PORT}")


def test_a_link_shows_its_question_and_answers_it_once(client: TestClient, phone: TestClient, served: Served) -> None:
    """Opening it types nothing; a choice is typed as from anywhere else; after that the link is of no use."""
    path = made(client)
    for _ in range(3):
        shown = phone.get(path)
        assert shown.status_code == 200 and "Do you want to proceed?" in shown.text
        assert 'name="choice" value="1">1. Yes' in shown.text
        assert "form-action 'self'" in shown.headers["content-security-policy"]
        assert TOKEN not in shown.text and served.panes.typed == {}
    done = phone.post(path, data={"choice": "1"})
    assert (done.status_code, served.panes.typed) == (200, {"%1": ["1"]}) and "answered 1. Yes" in done.text
    assert [phone.get(path).status_code, phone.post(path, data={"choice": "1"}).status_code] == [404, 404]
    assert served.panes.typed == {"%1": ["1"]}


def test_the_choice_may_stand_in_the_address(client: TestClient, phone: TestClient, served: Served) -> None:
    """As buttons of notifications send it, without a body."""
    assert phone.post(f"{made(client)}?choice=4").status_code == 200
    assert served.panes.typed == {"%1": ["4"]}


def test_what_is_not_whole_has_no_link_and_no_answer(client: TestClient, served: Served) -> None:
    """The page says what is missing, in the words of the refusal, and no choice has keys."""
    served.panes.desk("%1").now = attrs.evolve(seen("claude/permission-tall-80"), pane="%1")
    shown = asked(client)
    assert "it cannot be told where it begins" in shown["missing"]
    assert [choice["keys"] for choice in shown["choices"]] == [""] * 4
    for path, more in (("link", {}), ("answer", {"choice": 1})):
        told = client.post(f"/api/v1/{path}", json={**PROCESS, "fingerprint": shown["fingerprint"], **more})
        assert (told.status_code, told.json()["rule"]) == (409, "not-whole")
        assert shown["missing"] in told.json()["detail"]
    assert served.panes.typed == {}


def test_a_question_that_has_changed_gets_no_answer(client: TestClient, phone: TestClient, served: Served) -> None:
    """The rules of every answer hold, and the reason is shown; nobody makes a link for what is not asked."""
    path = made(client)
    served.panes.desk("%1").now = seen("claude/permission-bash-120")
    refused = phone.post(path, data={"choice": "1"})
    assert refused.status_code == 409 and "<p>" in refused.text and served.panes.typed == {}
    stale = client.post("/api/v1/link", json={**PROCESS, "fingerprint": "f" * 32})
    assert (stale.status_code, stale.json()["rule"]) == (409, "changed")


@pytest.mark.slow
def test_without_the_token_no_link_is_made_and_none_is_guessed(phone: TestClient, served: Served) -> None:
    """A link is made with the token alone; guesses are limited as those of the token are."""
    body = {**PROCESS, "fingerprint": "f" * 32}
    assert phone.post("/api/v1/link", json=body).status_code == 401
    codes = {phone.get(f"/answer/{number}").status_code for number in range(40)}
    assert codes == {404, 429}
    assert phone.get("/answer/x", headers={"Host": "evil.example"}).status_code == 421
    assert phone.post("/answer/x", headers={"Origin": "https://evil.example"}).status_code == 403
    assert served.panes.typed == {}


def test_what_programs_wrote_is_text(client: TestClient, phone: TestClient, served: Served) -> None:
    """Nothing of a question becomes markup."""
    question = attrs.evolve(QUESTION, agent="<b>", first=0, context=("<script>alert(1)</script>",))
    page = links.question_page(links.Link(ONE, question, 0.0))
    assert "<script" not in page and "&lt;script&gt;" in page and "&lt;b&gt;" in page


def test_links_end_and_are_few() -> None:
    """Each for ten minutes; the oldest goes for a new one beyond so many."""
    made = Links()
    first = made.add(ONE, QUESTION, 0.0).removeprefix(links.FOLDER)
    assert made.get(first, VALID_S - 1) is not None and made.get(first, VALID_S) is None
    keys = [made.add(ONE, QUESTION, 1.0).removeprefix(links.FOLDER) for _ in range(MAX_LINKS)]
    assert made.get(first, 2.0) is None and all(made.get(key, 2.0) for key in keys)
    assert len(set(keys)) == MAX_LINKS and min(map(len, keys)) >= 32


@each(
    "query, body, choice",
    [
        ("choice=2", b"", 2),
        ("", b"choice=3", 3),
        ("", b"", None),
        ("choice=1", b"choice=2", None),
        ("choice=1&choice=1", b"", None),
        ("choice=-1", b"", None),
        ("choice=%F0%9D%9F%98", b"", None),
        ("choice=1000", b"", None),
        ("&".join(f"{n}=1" for n in range(20)), b"choice=1", None),
        ("", b"\xff\x00", None),
    ],
)
def test_what_names_a_choice(query: str, body: bytes, choice: int | None) -> None:
    """One number in one place."""
    assert chosen(query, body) == choice
