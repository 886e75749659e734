import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';

/** @returns the next POST that a server in this process receives */
export function nextRequest(): Promise<IncomingMessage> {
  return new Promise((resolve) => {
    const started = (message: unknown): void => {
      const { request } = message as { request: IncomingMessage };
      if (request.method !== 'POST') return;
      unsubscribe('http.server.request.start', started);
      resolve(request);
    };
    subscribe('http.server.request.start', started);
  });
}
