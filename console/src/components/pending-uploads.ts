import { createContext } from 'react';

/** Finds a picture that is uploaded later, by its address in a text: `attachment:new-1`. */
export const PendingUploads = createContext<(address: string) => Blob | undefined>(() => undefined);
