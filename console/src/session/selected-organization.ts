import { useMemo, useSyncExternalStore } from 'react';
import { useIsStaff } from './permissions.ts';

const KEY = 'assay-organization';
const listeners = new Set<() => void>();

const read = (): string | null => sessionStorage.getItem(KEY);

/** Chooses the organization that a member of staff works for in this tab; undefined: all. */
export function selectOrganization(uid: string | undefined): void {
  if (uid === undefined) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, uid);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The uid of the chosen organization; undefined for all, and for users who are not staff. */
export function useSelectedOrganization(): string | undefined {
  const chosen = useSyncExternalStore(subscribe, read);
  const isStaff = useIsStaff() === true;
  return isStaff ? (chosen ?? undefined) : undefined;
}

/** A filter by the chosen organization. */
export function useOfOrganization(): { organization_uid?: string[] } {
  const uid = useSelectedOrganization();
  return useMemo(() => (uid === undefined ? {} : { organization_uid: [uid] }), [uid]);
}
