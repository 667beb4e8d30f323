/** Menus that several pages have. */
export function Choice({ label, value, options, onChange }: {
  label: string;
  value: string;
  options: [string, string][];
  onChange: (value: string) => void;
}) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(([key, text]) => <option key={key} value={key}>{text}</option>)}
      </select>
    </label>
  );
}

/** What the map can be coloured by, for a menu. */
export function colours({ resources }: { resources: string[] }, plugins: string[]): [string, string][] {
  return [
    ...resources.filter((name) => name !== "pods").map((name): [string, string] => [name, `requested ${name}`]),
    ["count", "number of pods"],
    ...resources.filter((name) => name !== "pods").map((name): [string, string] => [`free:${name}`, `free ${name}`]),
    ...(plugins.length ? [["score:total", "total score"] as [string, string]] : []),
    ...plugins.map((name): [string, string] => [`score:${name}`, `score of ${name}`]),
  ];
}
