import getpass
import time

import click
import questionary
from rich.console import Console
from rich.prompt import Confirm, IntPrompt, Prompt

console = Console()
questionary.text("Where does the server run?", default="localhost").ask()
questionary.password("Password of the account:").ask()
console.print("How would you like to connect?\n  1. Account (sign in with a browser)\n  2. Key of the service")
console.print("  3. Own server")
IntPrompt.ask("Connection", choices=["1", "2", "3"], default=1)
Prompt.ask("Enter the address of your server (e.g. https://example.org/v1)")
click.prompt("Region", type=click.Choice(["eu", "us"]), default="eu")
getpass.getpass("Token: ")
console.print("Open this page in your browser:\n\n  https://example.org/activate?user=ABCD-1234\n")
input("Paste the code here: ")
Confirm.ask("Save these settings?", default=True)
time.sleep(3)
input("\nReady. Press Enter to continue...")
console.print("Connected to example.org. Type /help for help.\n")
while text := input("You: "):
    time.sleep(1)
    console.print(f"\nThere is nothing about {text} here.\nDoes that help?\n")
while text := input("> "):
    console.print(f"There is nothing about {text} here. Is there anything else?")
