import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** @returns the server's end of the connection of the next POST that a server in this process receives */
export function nextConnection(): Promise<Socket> {
  return new Promise((resolve) => {
    const started = (message: unknown): void => {
      const { request } = message as { request: IncomingMessage };
      if (request.method !== 'POST') return;
      unsubscribe('http.server.request.start', started);
      resolve(request.socket);
    };
    subscribe('http.server.request.start', started);
  });
}
