/** Whether a key is for the page: no text is typed, no dialog is open, and no other key is held but Shift. */
export function isFree(event: KeyboardEvent): boolean {
  const isHeld = event.ctrlKey || event.metaKey || event.altKey;
  const isText = (event.target as HTMLElement).matches("input:not([type=range]), textarea, select, [contenteditable], .editor");
  return !event.defaultPrevented && !isHeld && !isText && !document.querySelector("dialog[open]");
}

/** Whether the space bar presses what has the focus. */
export function isPressable(event: KeyboardEvent): boolean {
  return (event.target as HTMLElement).matches("button, a, summary");
}
