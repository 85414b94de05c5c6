from textual.app import App, ComposeResult
from textual.widgets import Button, DataTable, Footer, Header, Input, LoadingIndicator


class Board(App[None]):
    BINDINGS = [("q", "quit", "Quit")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        yield Header()
        yield DataTable()
        yield LoadingIndicator()
        yield Input(placeholder="Filter")
        yield Button("Refresh")
        yield Footer()

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        table.add_columns("Job", "State")
        table.add_rows([(f"job {n}", "running") for n in range(5)])


Board().run()
