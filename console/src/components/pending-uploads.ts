import { createContext } from 'react';

/** Returns an image that is not uploaded yet by its URL in Markdown: `attachment:new-1`. */
export const PendingUploads = createContext<(url: string) => Blob | undefined>(() => undefined);
