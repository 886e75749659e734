// The colours that were chosen in the console are those of these pages: before anything is painted, so not as a module.
try {
  const scheme = localStorage.getItem('mantine-color-scheme-value');
  if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset.scheme = scheme;
} catch {
  // Where nothing may be stored, the colours are those of the system.
}
