/** Milliseconds that a test waits for what must happen at last. Only a test that fails waits so long. */
export const PATIENCE = 120_000;
