import { useEffect } from 'react';

/** Milliseconds; dialogs and new fields take the focus first. */
const RESTORE_DELAY = 50;
const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), textarea:not(:disabled), select:not(:disabled), [tabindex="0"]';

/** An ancestor of the focused element, and the index of its child on the path to that element. */
interface AncestorPosition {
  parent: Element;
  index: number;
}

/** The last focused element in the content, with its ancestors, nearest first. */
interface LastFocus {
  element: Element;
  ancestors: readonly AncestorPosition[];
  path: string;
}

/**
 * Restores the keyboard focus when the focused element is removed, such as a submitted form or a deleted row: focuses
 * the next focusable element, or else the table, tab or heading above it.
 */
export function useRestoreFocus(): void {
  useEffect(() => {
    let lastFocus: LastFocus | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const rememberFocus = ({ target }: FocusEvent) => {
      if (!(target instanceof Element)) return;
      const ancestors = ancestorsOf(target);
      // Dialogs and menus restore the focus themselves.
      if (ancestors.length > 0) lastFocus = { element: target, ancestors, path: location.pathname };
    };
    const forgetFocus = () => {
      // A click elsewhere drops the focus on purpose. A busy button is disabled and loses it, but not on purpose.
      if (isFocusLost() && lastFocus?.element.isConnected === true && !lastFocus.element.matches(':disabled'))
        lastFocus = undefined;
    };
    const restore = () => {
      timer = undefined;
      if (lastFocus === undefined || lastFocus.element.isConnected || !isFocusLost()) return;
      const { ancestors, path } = lastFocus;
      lastFocus = undefined;
      // Another page manages its own focus.
      if (path === location.pathname) findNextFocusable(ancestors)?.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(() => {
      if (lastFocus === undefined || lastFocus.element.isConnected || !isFocusLost()) return;
      timer ??= setTimeout(restore, RESTORE_DELAY);
    });
    document.addEventListener('focusin', rememberFocus);
    document.addEventListener('click', forgetFocus);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      clearTimeout(timer);
      document.removeEventListener('focusin', rememberFocus);
      document.removeEventListener('click', forgetFocus);
      observer.disconnect();
    };
  }, []);
}

/** Whether nothing has the focus and no dialog will take it. */
const isFocusLost = () =>
  (document.activeElement === document.body || document.activeElement === null) &&
  document.querySelector('[aria-modal="true"]') === null;

function ancestorsOf(element: Element): AncestorPosition[] {
  const content = document.getElementById('content');
  const ancestors: AncestorPosition[] = [];
  if (content?.contains(element) !== true) return ancestors;
  for (let child = element; child !== content && child.parentElement !== null; child = child.parentElement)
    ancestors.push({ parent: child.parentElement, index: [...child.parentElement.children].indexOf(child) });
  return ancestors;
}

function findNextFocusable(ancestors: readonly AncestorPosition[]): HTMLElement | undefined {
  // In the nearest remaining ancestor, the child at the index was removed; further up, it still exists.
  const nearest = ancestors.findIndex(({ parent }) => parent.isConnected);
  for (const [step, { parent, index }] of ancestors.slice(Math.max(0, nearest)).entries()) {
    const table = parent.closest<HTMLElement>('[role="grid"]');
    if (table !== null) return table;
    for (const child of [...parent.children].slice(step === 0 ? index : index + 1)) {
      const focusable = [child, ...child.querySelectorAll(FOCUSABLE)].find(
        (element) => element.matches(FOCUSABLE) && element.checkVisibility(),
      );
      if (focusable instanceof HTMLElement) return focusable;
    }
    const tab = document.getElementById(
      (parent.matches('[role="tabpanel"]') && parent.getAttribute('aria-labelledby')) || '',
    );
    if (tab !== null) return tab;
    const heading = parent.querySelector<HTMLElement>(':scope > :is(h1, h2, h3)');
    if (heading !== null) {
      heading.tabIndex = -1;
      return heading;
    }
  }
  return document.getElementById('content') ?? undefined;
}
