/** Names as text: too long ones lose their middle, the whole name is in the title, and foreign scripts stay apart. */
const SHORT = 28;

/** A text that names stand in, without the marks that would turn the words after them around. */
export function inOrder(text: string): string {
  return text.replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, "\ufffd");
}

/** What all names end with, from a dot on: it tells none of them from another. */
export function commonSuffix(names: readonly string[]): string {
  if (names.length < 2) return "";
  let suffix = names[0].slice(Math.max(0, names[0].indexOf(".")));
  if (suffix === names[0]) return "";
  for (const name of names) {
    while (suffix && !name.endsWith(suffix)) suffix = suffix.slice(1).replace(/^[^.]*/, "");
    if (!suffix) return "";
  }
  return suffix;
}

/** A name without the end that it shares with all others. */
export function withoutSuffix(name: string, suffix: string): string {
  return suffix && name.length > suffix.length ? name.slice(0, -suffix.length) : name;
}

export function Name({ text }: { text: string }) {
  if (text.length <= SHORT) return <bdi className="name-short" title={text}>{text}</bdi>;
  let tail = 10;
  if (/[\uDC00-\uDFFF]/.test(text[text.length - tail])) tail -= 1; // never between the halves of an emoji
  return (
    <bdi className="name" title={text}>
      <span className="unseen">{text}</span>
      <span className="name-head" aria-hidden="true">{text.slice(0, text.length - tail)}</span>
      <span className="name-tail" aria-hidden="true">{text.slice(text.length - tail)}</span>
    </bdi>
  );
}
