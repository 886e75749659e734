/**
 * The folder of the product, with package.json, the description and `assets`. It is above the sources and above what is
 * built of them alike: the build writes every module into `dist` itself, and this file stays where it is.
 */
export const ROOT = new URL('..', import.meta.url);

/** The folder of what is built: the console, and the modules that threads begin with. */
export const DIST = new URL('dist/', ROOT);
