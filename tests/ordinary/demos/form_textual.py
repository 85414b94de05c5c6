from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Footer, Input, Label, OptionList, RadioSet, Select, Static


class Setup(ModalScreen[None]):
    CSS = "Setup {align: center middle} #box {width: 70; border: solid green; padding: 1} Horizontal {height: 3}"

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Label("Set up the service")
            yield Label("Provider:")
            yield Select([("Example", 1), ("Other", 2)], value=1)
            yield Label("Key:")
            yield Input(placeholder="Enter your key", password=True)
            with Horizontal():
                yield Button("Save & Start", id="save")
                yield Button("Skip")

    def on_button_pressed(self) -> None:
        self.dismiss()


class Choose(ModalScreen[None]):
    CSS = "Choose {align: center middle} #box {width: 50; height: 16; border: round blue; padding: 1}"

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Label("How do you want to sign in?")
            yield OptionList("With a browser", "With a key", "Not now")

    def on_option_list_option_selected(self) -> None:
        self.dismiss()


class Mode(ModalScreen[None]):
    CSS = "Mode {align: center middle} #box {width: 50; height: 16; border: thick blue; padding: 1}"

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Label("Permissions")
            yield RadioSet("Ask every time", "Ask once", "Never ask")
            yield Button("Continue", id="go")

    def on_button_pressed(self) -> None:
        self.dismiss()


class Form(App[None]):
    BINDINGS = [("ctrl+q", "quit", "Quit")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        yield Static("Welcome.\n\nNothing was asked yet.")
        yield Input(placeholder="Ask anything")
        yield Footer()

    def on_mount(self) -> None:
        self.push_screen(Mode())
        self.push_screen(Choose())
        self.push_screen(Setup())


Form().run()
