/** Names as text: too long ones lose their middle, the whole name is in the title, and foreign scripts stay apart. */
const SHORT = 28;

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
