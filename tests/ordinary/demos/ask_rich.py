import time

from rich.console import Console
from rich.progress import track
from rich.prompt import Confirm, Prompt

for _ in track(range(20), "Loading"):
    time.sleep(0.1)
with Console().status("Thinking about it"):
    time.sleep(2)
Prompt.ask("Which colour?", choices=["red", "green", "blue"], default="red")
Confirm.ask("Do you want to continue?")
