import { createContext } from 'react';

/** Finds an image that is not uploaded yet by its address in Markdown: `attachment:new-1`. */
export const PendingUploads = createContext<(address: string) => Blob | undefined>(() => undefined);
