"""
Who asks the server, beside having its token: the program at the other end, where that runs on this machine.

A request with the token is a person's: their browser may have been started anywhere. But an agent, and what runs below
one, may do no more by way of the server than it may do itself.
The connection is looked up in the tables of `/proc`, on the thread that serves a request, once for each connection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastapi import Request

from tallylight.actions.caller import PERSON, Caller, Who, caller_of
from tallylight.agents.agent import Agents
from tallylight.evidence import process_table
from tallylight.evidence.ports import connected
from tallylight.parts.web.connections import connection_of


def who_asks(
    request: Request,
    agents: Agents,
    processes: Callable[[tuple[str, int], tuple[str, int]], Sequence[int]] = connected,
) -> Caller:
    """
    Who sends *request*. *processes* are those at the other end of a connection, *agents* describes the known agents.

    It looks through the process table, and is called on a thread.
    """
    connection, client, server = connection_of(request.scope), request.client, request.scope.get("server")
    if connection is not None and connection.caller is not None:
        return connection.caller
    found = PERSON
    if client is not None and server:
        # Several processes may share a connection: an agent among them counts.
        ends = processes((client.host, client.port), tuple(server))
        callers = (caller_of(pid, agents, process_table.table()) for pid in ends)
        found = next((one for one in callers if one.who in (Who.STRAY, Who.AGENT)), PERSON)
    if connection is not None:
        connection.caller = found
    return found
