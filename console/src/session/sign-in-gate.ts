// Suspends requests while the session is expired.

type Listener = () => void;

const listeners = new Set<Listener>();
let pending: (() => void)[] = [];

/** Resolves at the next call of `retryWaiting`. */
export function waitForSignIn(): Promise<void> {
  return new Promise((resolve) => {
    pending.push(resolve);
    for (const listener of listeners) listener();
  });
}

/** Resumes the waiting requests. */
export function retryWaiting(): void {
  const resumed = pending;
  pending = [];
  for (const listener of listeners) listener();
  for (const resume of resumed) resume();
}

/** Whether requests wait for a sign-in. */
export const isWaiting = (): boolean => pending.length > 0;

/** Subscribes to changes of `isWaiting`. @returns the unsubscribe function */
export function subscribeToWaiting(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
