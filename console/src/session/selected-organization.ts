import { useMemo, useSyncExternalStore } from 'react';
import { useIsStaff } from './permissions.ts';

const KEY = 'assay-organization';
const listeners = new Set<() => void>();

const read = (): string | null => sessionStorage.getItem(KEY);

/** Selects the organization that a member of staff works for in this tab; `undefined` selects all. */
export function selectOrganization(uid: string | undefined): void {
  if (uid === undefined) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, uid);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The uid of the selected organization; undefined for all, and for users who are not staff. */
export function useSelectedOrganization(): string | undefined {
  const selected = useSyncExternalStore(subscribe, read);
  const isStaff = useIsStaff() === true;
  return isStaff ? (selected ?? undefined) : undefined;
}

/** A filter by the selected organization. */
export function useOfOrganization(): { organization_uid?: string[] } {
  const uid = useSelectedOrganization();
  return useMemo(() => (uid === undefined ? {} : { organization_uid: [uid] }), [uid]);
}
