/**
 * The folder of package.json, openapi.json and `assets`. This file must stay directly in `src`: the build bundles it
 * into `dist`, which is as deep.
 */
export const ROOT = new URL('..', import.meta.url);

/** The folder of the built console and of the worker modules. */
export const DIST = new URL('dist/', ROOT);
