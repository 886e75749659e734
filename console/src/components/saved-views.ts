import { useCallback, useMemo, useSyncExternalStore } from 'react';

/** A list as somebody wants to find it again: filters, order and columns, as they are in the address. */
export interface View {
  name: string;
  search: Readonly<Record<string, unknown>>;
}

const CHANGED = 'views-changed';

/** The views of a place that an account has saved in this browser. */
export function useViews(place: string, account: number | undefined) {
  const key = `assay.views.${place}.${account}`;
  const text = useSyncExternalStore(hear, () => localStorage.getItem(key));
  const views = useMemo(() => read(text), [text]);
  const save = useCallback(
    (next: readonly View[]) => {
      localStorage.setItem(key, JSON.stringify(next));
      dispatchEvent(new Event(CHANGED));
    },
    [key],
  );
  return { views, save };
}

function hear(onChange: () => void) {
  // One is told of other windows by `storage`, of the own one by this.
  addEventListener('storage', onChange);
  addEventListener(CHANGED, onChange);
  return () => {
    removeEventListener('storage', onChange);
    removeEventListener(CHANGED, onChange);
  };
}

function read(text: string | null): readonly View[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(found) ? found.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is View {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as View).name === 'string' &&
    typeof (value as View).search === 'object'
  );
}
