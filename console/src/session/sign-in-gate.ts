/** Whether the session ended while the page was open, for those who show it. */
type Listener = () => void;

const listeners = new Set<Listener>();
let waiting: (() => void)[] = [];

/** Waits until somebody thinks that they are signed in again. */
export function untilSignedIn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    for (const tell of listeners) tell();
  });
}

/** Goes on with what waited. */
export function tryAgain(): void {
  const all = waiting;
  waiting = [];
  for (const tell of listeners) tell();
  for (const go of all) go();
}

/** @returns whether something waits for a sign-in */
export const isWaiting = (): boolean => waiting.length > 0;

/** Tells when that changes. @returns what ends it */
export function onWaiting(tell: Listener): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
