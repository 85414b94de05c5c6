"""`tally ntfy TEXT`: send a text to your topic."""

from __future__ import annotations

from tallylight.cli.parser import Parser
from tallylight.config.config_file import load_config
from tallylight.model.errors import TallyError
from tallylight_ntfy.host import send, url_of


def make_parser() -> Parser:
    parser = Parser(prog="tally ntfy", description="Send a text to your topic.", examples={"tally ntfy lunch": "one"})
    parser.add_argument("text", metavar="TEXT", help="what to send")
    return parser


def main(argv: list[str]) -> int:
    text, url = make_parser().parse_args(argv).text, url_of(load_config()[0])
    if not url:
        raise TallyError("there is no url in [parts.ntfy] of config.toml")
    send(url, "Tallylight", text)
    return 0
