"""How each of the agents looks and is talked to: patterns for its screen, and keys."""

from __future__ import annotations

from typing import NamedTuple

_ESC = "\x1b"


class Manner(NamedTuple):
    """Patterns are searched for line by line; keys are pressed one after the other, with a pause between."""

    #: At its prompt, with nothing to do.
    ready: str
    permission: str
    approve: tuple[str, ...]
    deny: tuple[str, ...]
    #: What the agent does when it was denied: it goes `idle`, or is `working` on with the news.
    denied: str
    question: str
    answer: tuple[str, ...]
    #: What ends a turn in the middle of an answer, and in the middle of a tool.
    interrupt: tuple[str, ...]
    interrupted: str
    failed: str
    leave: str
    #: Typed before a question is asked for.
    plan: str = ""
    #: Takes out what stands in the composer, where an interrupted prompt is put back, or clicks into it.
    wipe: str = ""
    #: On its screen for as long as it works; it goes after the model's last word, and late on a busy machine.
    works: str = ""
    #: How long it leaves keys alone that come with a dialog, or an Enter that comes with the text.
    settles: float = 0.5


MANNERS = {
    "claude": Manner(
        ready="manual mode on",
        permission="Do you want to proceed",
        approve=("1",),
        deny=(_ESC,),
        denied="idle",
        question="Enter to select",
        answer=("1",),
        interrupt=(_ESC,),
        interrupted=r"⎿\s+Interrupted ·",
        failed="API Error: 400",
        leave="/exit",
        settles=0.6,
    ),
    "codex": Manner(
        ready="Ask Codex to do anything",
        permission="Would you like to run",
        approve=("y",),
        deny=(_ESC,),
        denied="idle",
        question="enter to submit answer",
        answer=("1", "\r"),
        interrupt=(_ESC,),
        interrupted="Conversation interrupted",
        failed="the script says 400",
        leave="/quit",
        plan="/plan ",
    ),
    "opencode": Manner(
        ready=r"Ask anything|ctrl\+p commands",
        permission="Permission required",
        approve=("\r",),
        deny=(_ESC,),
        denied="idle",
        question="enter submit",
        answer=("\r",),
        interrupt=(_ESC, _ESC),
        interrupted="· interrupted",
        failed="the script says 400",
        leave="/exit",
        works="esc interrupt",
    ),
    "kilo": Manner(
        ready=r"Ask anything|ctrl\+p commands",
        permission="Permission required",
        approve=("\r",),
        deny=(_ESC, "\r"),
        denied="idle",
        question="enter submit",
        answer=("\r",),
        interrupt=(_ESC, _ESC),
        interrupted="· interrupted",
        failed="the script says 400",
        leave="/exit",
        works="esc interrupt",
    ),
    "gemini": Manner(
        ready="Type your message",
        permission="Allow execution of",
        approve=("\r",),
        deny=(_ESC,),
        denied="idle",
        question="Enter to select",
        answer=("\r",),
        interrupt=(_ESC,),
        interrupted="Request cancelled",
        failed="the script says",
        leave="/quit",
    ),
    "qwen": Manner(
        ready="Type your message",
        permission="Allow execution of",
        approve=("1",),
        deny=(_ESC,),
        denied="idle",
        question="Enter: Select",
        answer=("\r",),
        interrupt=(_ESC,),
        interrupted="Request cancelled",
        failed="the script says",
        leave="/quit",
        wipe="\x15",
    ),
    "copilot": Manner(
        ready="/ commands|Interactive · Manual",  # as much as a narrow terminal has of it
        permission="Do you want to run this command",
        approve=("\r",),
        deny=(_ESC,),
        denied="idle",
        question="Copilot needs information",
        answer=("\r",),
        interrupt=(_ESC, _ESC),
        interrupted="Operation cancelled",
        failed="the script says 400",
        leave="/exit",
    ),
    "aider": Manner(
        ready=r"^(diff)?> *$",
        permission="Run shell command",
        approve=("y\r",),
        deny=("n\r",),
        denied="idle",
        question="Add file to the chat",
        answer=("n\r",),
        interrupt=("\x03",),
        interrupted=r"\^C",
        failed="the script says 400",
        leave="/exit",
    ),
    "kimi": Manner(
        ready=r"context: \d",
        permission="Run this command",
        approve=("1",),
        deny=(_ESC,),
        denied="working",
        question="↵ choose",
        answer=("1", "\r"),
        interrupt=(_ESC,),
        interrupted="Interrupted",
        failed="the script says 400",
        leave="/exit",
    ),
    "pi": Manner(
        ready=r"\(auto\) +scripted",
        permission=r"Allow\?",
        approve=("\r",),
        deny=(_ESC,),
        denied="working",
        question="Esc to cancel",
        answer=("\r",),
        interrupt=(_ESC,),
        interrupted="Operation aborted",
        failed="the script says 400",
        leave="/quit",
    ),
    "grok": Manner(
        ready="Ask me anything",
        permission="Do you want to proceed",
        approve=("\r",),
        deny=(_ESC,),
        denied="idle",
        question="",
        answer=(),
        interrupt=(_ESC,),
        interrupted="cancelled by user",
        failed="the script says 400",
        leave="exit",
    ),
    "nanocoder": Manner(
        ready="commands, ! bash",
        permission="Do you want to execute",
        approve=("\r",),
        deny=(_ESC,),
        denied="idle",
        question="Red",
        answer=("\r",),
        interrupt=(_ESC,),
        interrupted="ancelled|nterrupted",
        failed="the script says 400",
        leave="/exit",
    ),
    "cn": Manner(
        ready="Ask anything",
        permission="Would you like to continue",
        approve=("\r",),
        deny=(_ESC,),
        denied="idle",
        question="",
        answer=(),
        interrupt=(_ESC,),
        interrupted="nterrupted",
        failed="the script says 400",
        leave="/exit",
    ),
    "gptme": Manner(
        ready="^User:",
        permission=r"Execute (shell|save)\?",
        approve=("y\r",),
        deny=("n\r",),
        denied="working",
        question="",
        answer=(),
        interrupt=("\x03",),
        interrupted="nterrupted",
        failed="the script says 400",
        leave="/exit",
    ),
    "kolega": Manner(
        ready="Ask Kolega Code",
        permission="Choose whether to",
        approve=("\r",),
        deny=(_ESC,),
        denied="idle",
        question="Choose an option",
        answer=("\r",),
        interrupt=(_ESC,),
        interrupted="Stopped by user",
        failed="the script says 400",
        leave="/exit",
        wipe="\x1b[<0;5;{row}M\x1b[<0;5;{row}m",  # after a dialog its composer has to be clicked
    ),
    "tunacode": Manner(
        ready="^│ >",
        permission="",
        approve=(),
        deny=(),
        denied="",
        question="",
        answer=(),
        interrupt=(_ESC,),
        interrupted="nterrupted",
        failed="the script says 400",
        leave="/exit",
    ),
    "mini": Manner(
        ready="What do you want to do",
        permission="Enter to confirm",
        approve=("\r",),
        deny=(),
        denied="",
        question="",
        answer=(),
        interrupt=("\x03",),
        interrupted=r"Interrupted\.",
        failed="the script says 400",
        leave="",
    ),
    "vibe": Manner(
        ready="─ ask ─",
        permission="Permission for the",
        approve=("\r",),
        deny=(_ESC,),
        denied="working",
        question="Red",
        answer=("\r",),
        interrupt=(_ESC,),
        interrupted="Interrupted ·",
        failed="the script says 400",
        leave="/exit",
    ),
    "cline": Manner(
        ready="What can I do for you|Ask anything",
        permission="Approve tool call",
        approve=("y",),
        deny=("n",),
        denied="working",
        question="Cline is asking a question",
        answer=("\r",),
        interrupt=(_ESC,),
        interrupted="cancel",
        failed="the script says 400",
        leave="/exit",
    ),
}
