import type { KeyboardEvent } from 'react';

/** Lets Ctrl or Cmd with Enter send the form of a field, in which Enter alone begins a line or adds a tag. */
export function submitOnCtrlEnter(event: KeyboardEvent): void {
  const { target } = event;
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
  if (!(target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement)) return;
  event.preventDefault();
  target.form?.querySelector<HTMLElement>('[type="submit"]:not(:disabled)')?.click();
}
