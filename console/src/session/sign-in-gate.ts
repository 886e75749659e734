/** Whether the session ended while the page was open, for those who show it. */
type Listener = () => void;

const listeners = new Set<Listener>();
let pending: (() => void)[] = [];

/** Waits until somebody thinks that they are signed in again. */
export function waitForSignIn(): Promise<void> {
  return new Promise((resolve) => {
    pending.push(resolve);
    for (const tell of listeners) tell();
  });
}

/** Goes on with what waited. */
export function retryWaiting(): void {
  const all = pending;
  pending = [];
  for (const tell of listeners) tell();
  for (const go of all) go();
}

/** @returns whether something waits for a sign-in */
export const isWaiting = (): boolean => pending.length > 0;

/** Tells when that changes. @returns what ends it */
export function subscribeToWaiting(tell: Listener): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
