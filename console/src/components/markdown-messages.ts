/** Strings of texts in Markdown and of their fields. Lists do not load them. */
export const markdownMessages = {
  hint: 'Markdown supported',
  hintWithImages: 'Markdown supported. Paste or drop screenshots.',
  preview: (label: string) => `Preview ${label.toLowerCase()}`,
  edit: (label: string) => `Edit ${label.toLowerCase()}`,
  nothingToPreview: 'Nothing to preview',
  tooComplex: 'Shown as plain text: too long or too deep to lay out',
  parserUnavailable: 'Shown as plain text: part of the console did not load. Reload the page.',
  uploadingImage: 'Uploading image',
  loadingImage: (alt: string) => `Loading ${alt}`,
  imageFailed: (alt: string) => `${alt} (could not load the image)`,
} as const;
