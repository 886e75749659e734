import { useCallback, useMemo, useSyncExternalStore } from 'react';

/** A saved view of a list: the filters, order and columns of its address. */
export interface SavedView {
  name: string;
  search: Readonly<Record<string, unknown>>;
}

const CHANGE_EVENT = 'views-changed';

/** The views of a page that a user has saved in this browser. */
export function useSavedViews(page: string, userId: number | undefined) {
  const key = `assay.views.${page}.${userId}`;
  const text = useSyncExternalStore(subscribe, () => localStorage.getItem(key));
  const views = useMemo(() => parseViews(text), [text]);
  const save = useCallback(
    (next: readonly SavedView[]) => {
      localStorage.setItem(key, JSON.stringify(next));
      dispatchEvent(new Event(CHANGE_EVENT));
    },
    [key],
  );
  return { views, save };
}

function subscribe(onChange: () => void) {
  // `storage` events come only from other windows.
  addEventListener('storage', onChange);
  addEventListener(CHANGE_EVENT, onChange);
  return () => {
    removeEventListener('storage', onChange);
    removeEventListener(CHANGE_EVENT, onChange);
  };
}

function parseViews(text: string | null): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(stored) ? stored.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is SavedView {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as SavedView).name === 'string' &&
    typeof (value as SavedView).search === 'object'
  );
}
