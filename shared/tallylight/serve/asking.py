"""
Who asks the server, beside having its token: the program at the other end, where that runs on this machine.

A request with the token is a person's: their browser may have been started anywhere. But an agent, and what runs below
one, may do no more by way of the server than it may do itself.
The connection is looked up in the tables of `/proc`, on the thread that serves a request, once for each connection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
from fastapi import Request

from tallylight.actions.caller import PERSON, Caller, Who, caller_of
from tallylight.agents.agent import Agents
from tallylight.evidence import process_table
from tallylight.evidence.ports import connected
from tallylight.serve.connections import connection_of


def nobody_here(_client: tuple[str, int], _server: tuple[str, int]) -> Sequence[int]:
    """Every request comes from elsewhere."""
    return ()


@attrs.frozen
class Asking:
    """*processes* tells those at the other end of a connection, *agents* which of them are agents."""

    agents: Agents
    processes: Callable[[tuple[str, int], tuple[str, int]], Sequence[int]] = connected
    table: process_table.Table = attrs.Factory(process_table.table)

    def of(self, request: Request) -> Callable[[], Caller]:
        """Tells who sends *request*, when it is called: it looks through the process table."""
        connection, client, server = connection_of(request.scope), request.client, request.scope.get("server")

        def who() -> Caller:
            if connection is not None and connection.caller is not None:
                return connection.caller
            ends = (client.host, client.port) if client is not None else None
            found = self._caller(ends, tuple(server)) if ends is not None and server else PERSON
            if connection is not None:
                connection.caller = found
            return found

        return who

    def _caller(self, client: tuple[str, int], server: tuple[str, int]) -> Caller:
        """Several processes may share a connection: an agent among them counts."""
        found = (caller_of(pid, self.agents, self.table) for pid in self.processes(client, server))
        return next((one for one in found if one.who in (Who.STRAY, Who.AGENT)), PERSON)


#: A server that takes every request for a person's.
EVERYBODY = Asking(Agents(()), nobody_here)
