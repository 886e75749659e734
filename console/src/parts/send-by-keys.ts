import type { KeyboardEvent } from 'react';

/** Lets Ctrl or Cmd with Enter send the form of a text area, in which Enter alone begins a line. */
export function sendByKeys(event: KeyboardEvent): void {
  const { target } = event;
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
  if (!(target instanceof HTMLTextAreaElement)) return;
  event.preventDefault();
  target.form?.querySelector<HTMLElement>('[type="submit"]:not(:disabled)')?.click();
}
