import { useSyncExternalStore } from 'react';

const PRINT = matchMedia('print');

function subscribe(onChange: () => void): () => void {
  PRINT.addEventListener('change', onChange);
  return () => PRINT.removeEventListener('change', onChange);
}

/** Whether the page is being printed. Prints contain folded texts as a whole. */
export const useIsPrinting = (): boolean => useSyncExternalStore(subscribe, () => PRINT.matches);
