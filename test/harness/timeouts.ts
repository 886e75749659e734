/** Milliseconds that a test waits for an event. Only failing tests wait this long. */
export const WAIT_TIMEOUT = 120_000;
