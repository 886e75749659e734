import { useCallback, useMemo, useSyncExternalStore } from 'react';

/** A list as somebody wants to find it again: filters, order and columns, as they are in the address. */
export interface SavedView {
  name: string;
  search: Readonly<Record<string, unknown>>;
}

const CHANGE_EVENT = 'views-changed';

/** The views of a place that an account has saved in this browser. */
export function useSavedViews(place: string, account: number | undefined) {
  const key = `assay.views.${place}.${account}`;
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
  // One is told of other windows by `storage`, of the own one by this.
  addEventListener('storage', onChange);
  addEventListener(CHANGE_EVENT, onChange);
  return () => {
    removeEventListener('storage', onChange);
    removeEventListener(CHANGE_EVENT, onChange);
  };
}

function parseViews(text: string | null): readonly SavedView[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(found) ? found.filter(isView) : [];
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
