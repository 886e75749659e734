import type { KeyboardEvent } from 'react';

/** Submits the form on Ctrl or Cmd with Enter, from fields in which Enter adds a line or a tag. */
export function submitOnCtrlEnter(event: KeyboardEvent): void {
  const { target } = event;
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
  if (!(target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement)) return;
  event.preventDefault();
  target.form?.querySelector<HTMLElement>('[type="submit"]:not(:disabled)')?.click();
}
