/** Milliseconds that a test waits for what must happen at last. Only a test that fails waits so long. */
export const WAIT_TIMEOUT = 120_000;
