/** Questions before something is done that cannot be undone. */
import { useEffect, useRef, type ReactNode } from "react";

export function Confirm({ isOpen, title, verb, isHarmless, onClose, onConfirm, children }: {
  isOpen: boolean;
  title: string;
  verb: string;
  isHarmless?: boolean;
  onClose: () => void;
  onConfirm: () => void;
  children?: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      <form onSubmit={(event) => {
        event.preventDefault();
        onClose();
        onConfirm();
      }}>
        <h2>{title}</h2>
        {children}
        <div className="tools">
          <button type="submit" className={isHarmless ? "main" : "harm"}>{verb}</button>
          <button type="button" onClick={onClose} autoFocus>Cancel</button>
        </div>
      </form>
    </dialog>
  );
}
