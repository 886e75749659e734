/** Strings in place of the page of an object. */
export const pageFallbackMessages = {
  title: (noun: string) => `${noun} not found`,
  heading: (noun: string) => `This ${noun} does not exist, or you do not have access to it`,
  hint: 'The address may be mistyped, or it was deleted.',
  all: (list: string) => `All ${list}`,
  failed: (noun: string) => `Could not load the ${noun}`,
} as const;
