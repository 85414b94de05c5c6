import React, { useState } from "react";
import { Box, render, Text, useApp } from "ink";
import SelectInput from "ink-select-input";
import Spinner from "ink-spinner";
import TextInput from "ink-text-input";

const h = React.createElement;
const items = ["Staging", "Production"].map((label) => ({ label, value: label }));

function Deploy() {
  const [step, setStep] = useState(0);
  const [name, setName] = useState("");
  const { exit } = useApp();
  const next = () => (step === 2 ? exit() : setStep(step + 1));
  if (step === 0) return h(Box, { flexDirection: "column" }, h(Text, null, "Deploy where?"), h(SelectInput, { items, onSelect: next }));
  const input = h(Box, { borderStyle: "round" }, h(TextInput, { value: name, onChange: setName, onSubmit: next }));
  return h(Box, { flexDirection: "column" }, h(Text, null, h(Spinner), " Building"), h(Text, null, "Name of the release"), input);
}
render(h(Deploy));
