// Applies the colour scheme of the console before the first paint, so this is not a module.
try {
  const scheme = localStorage.getItem('mantine-color-scheme-value');
  if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset.theme = scheme;
} catch {
  // Without access to the storage, the scheme of the system applies.
}
