import { useEffect } from 'react';

/** For what else takes the focus first, in milliseconds: a dialog that gives it back, a field that is shown for it. */
const RESTORE_DELAY = 50;
const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), textarea:not(:disabled), select:not(:disabled), [tabindex="0"]';

/** An element, and where its child was in it that had the focus within. */
interface AncestorPosition {
  parent: Element;
  index: number;
}

/** What had the focus last in the content, and where it was: the nearest first. */
interface LastFocus {
  element: Element;
  ancestors: readonly AncestorPosition[];
  path: string;
}

/**
 * Whoever uses keys goes on where they were: when what had the focus in the content is gone, as a form that was sent or the
 * row of what was deleted, the next thing there gets it, else the table, the tab or the heading that it was under.
 */
export function useRestoreFocus(): void {
  useEffect(() => {
    let last: LastFocus | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const note = ({ target }: FocusEvent) => {
      if (!(target instanceof Element)) return;
      const ancestors = ancestorsOf(target);
      // What dialogs and menus had is given back by them.
      if (ancestors.length > 0) last = { element: target, ancestors, path: location.pathname };
    };
    const leave = () => {
      // A press beside it leaves it; a button that is busy has the focus no longer, but is not left.
      if (isFocusLost() && last?.element.isConnected === true && !last.element.matches(':disabled'))
        last = undefined;
    };
    const restore = () => {
      timer = undefined;
      if (last === undefined || last.element.isConnected || !isFocusLost()) return;
      const { ancestors, path } = last;
      last = undefined;
      // Another place has the focus by itself.
      if (path === location.pathname) findNextFocusable(ancestors)?.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(() => {
      if (last === undefined || last.element.isConnected || !isFocusLost()) return;
      timer ??= setTimeout(restore, RESTORE_DELAY);
    });
    document.addEventListener('focusin', note);
    document.addEventListener('click', leave);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      clearTimeout(timer);
      document.removeEventListener('focusin', note);
      document.removeEventListener('click', leave);
      observer.disconnect();
    };
  }, []);
}

/** Whether nothing has the focus, and no dialog is there that will take it. */
const isFocusLost = () =>
  (document.activeElement === document.body || document.activeElement === null) &&
  document.querySelector('[aria-modal="true"]') === null;

function ancestorsOf(element: Element): AncestorPosition[] {
  const content = document.getElementById('content');
  const places: AncestorPosition[] = [];
  if (content?.contains(element) !== true) return places;
  for (let child = element; child !== content && child.parentElement !== null; child = child.parentElement)
    places.push({ parent: child.parentElement, index: [...child.parentElement.children].indexOf(child) });
  return places;
}

function findNextFocusable(places: readonly AncestorPosition[]): HTMLElement | undefined {
  // The first of them had what is gone; of those above, the child is still there.
  const there = places.findIndex(({ parent }) => parent.isConnected);
  for (const [step, { parent, index }] of places.slice(Math.max(0, there)).entries()) {
    const table = parent.closest<HTMLElement>('[role="grid"]');
    if (table !== null) return table;
    for (const child of [...parent.children].slice(step === 0 ? index : index + 1)) {
      const found = [child, ...child.querySelectorAll(FOCUSABLE)].find(
        (each) => each.matches(FOCUSABLE) && each.checkVisibility(),
      );
      if (found instanceof HTMLElement) return found;
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
