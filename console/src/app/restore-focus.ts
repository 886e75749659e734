import { useEffect } from 'react';

/** For what else takes the focus first, in milliseconds: a dialog that gives it back, a field that is shown for it. */
const GRACE = 50;
const TAKES_FOCUS =
  'a[href], button:not(:disabled), input:not(:disabled), textarea:not(:disabled), select:not(:disabled), [tabindex="0"]';

/** An element, and where its child was in it that had the focus within. */
interface Place {
  parent: Element;
  at: number;
}

/** What had the focus last in the content, and where it was: the nearest first. */
interface Last {
  element: Element;
  places: readonly Place[];
  path: string;
}

/**
 * Whoever uses keys goes on where they were: when what had the focus in the content is gone, as a form that was sent or the
 * row of what was deleted, the next thing there gets it, else the table, the tab or the heading that it was under.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Last | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const note = ({ target }: FocusEvent) => {
      if (!(target instanceof Element)) return;
      const places = placesOf(target);
      // What dialogs and menus had is given back by them.
      if (places.length > 0) last = { element: target, places, path: location.pathname };
    };
    const leave = () => {
      // A press beside it leaves it; a button that is busy has the focus no longer, but is not left.
      if (isLost() && last?.element.isConnected === true && !last.element.matches(':disabled'))
        last = undefined;
    };
    const restore = () => {
      timer = undefined;
      if (last === undefined || last.element.isConnected || !isLost()) return;
      const { places, path } = last;
      last = undefined;
      // Another place has the focus by itself.
      if (path === location.pathname) nextOf(places)?.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(() => {
      if (last === undefined || last.element.isConnected || !isLost()) return;
      timer ??= setTimeout(restore, GRACE);
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
const isLost = () =>
  (document.activeElement === document.body || document.activeElement === null) &&
  document.querySelector('[aria-modal="true"]') === null;

function placesOf(element: Element): Place[] {
  const content = document.getElementById('content');
  const places: Place[] = [];
  if (content?.contains(element) !== true) return places;
  for (let child = element; child !== content && child.parentElement !== null; child = child.parentElement)
    places.push({ parent: child.parentElement, at: [...child.parentElement.children].indexOf(child) });
  return places;
}

function nextOf(places: readonly Place[]): HTMLElement | undefined {
  // The first of them had what is gone; of those above, the child is still there.
  const there = places.findIndex(({ parent }) => parent.isConnected);
  for (const [step, { parent, at }] of places.slice(Math.max(0, there)).entries()) {
    const table = parent.closest<HTMLElement>('[role="grid"]');
    if (table !== null) return table;
    for (const child of [...parent.children].slice(step === 0 ? at : at + 1)) {
      const found = [child, ...child.querySelectorAll(TAKES_FOCUS)].find(
        (each) => each.matches(TAKES_FOCUS) && each.checkVisibility(),
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
