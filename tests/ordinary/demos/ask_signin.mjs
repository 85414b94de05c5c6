import React, { useState } from "react";
import { Box, render, Text, useApp, useInput } from "ink";
import SelectInput from "ink-select-input";
import Spinner from "ink-spinner";
import TextInput from "ink-text-input";

const h = React.createElement;
const items = ["Account", "API key", "Cancel"].map((label) => ({ label, value: label }));
const column = (...rows) => h(Box, { flexDirection: "column" }, ...rows.map((row) => (typeof row === "string" ? h(Text, null, row) : row)));
const box = (...rows) => h(Box, { borderStyle: "round", paddingX: 1, flexDirection: "column" }, ...rows.map((row) => (typeof row === "string" ? h(Text, null, row) : row)));

function Signin() {
  const [step, setStep] = useState(0);
  const [text, setText] = useState("");
  const { exit } = useApp();
  const next = () => (setText(""), step === 5 ? exit() : setStep(step + 1));
  useInput((_, key) => key.return && [1, 3, 4].includes(step) && next());
  const field = (mask) => h(TextInput, { value: text, onChange: setText, onSubmit: next, mask, placeholder: mask ? "sk-..." : "Type a message" });
  if (step === 0) return column("Welcome! Choose how to sign in:", " ", h(SelectInput, { items, onSelect: next }));
  if (step === 1) return column("Visit https://example.org/device and enter the code ABCD-EFGH", " ", h(Text, null, h(Spinner), " Waiting for the browser"), "Press Enter once you have signed in");
  if (step === 2) return box("Enter your API key", " ", field("*"), " ", "Enter to submit · Esc to go back");
  if (step === 3) return column("Signed in as somebody@example.org.", "Press Enter to continue…");
  if (step === 4) return column("This folder holds files of somebody else.", " ", h(Text, { inverse: true }, " Trust "), h(Text, null, " Leave "), " ", "←/→ choose · Enter confirm");
  return column("● Here is an answer. Does it help?", " ", box(h(Box, null, h(Text, null, "> "), field())), "? for shortcuts");
}
render(h(Signin));
