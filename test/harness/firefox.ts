import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describe } from 'vitest';
import { WebSocket } from 'ws';
import { findFirefox } from './browser-path.ts';
import { temporaryFolder } from './temporary.ts';

/** A group of tests that need Firefox. Skipped without it, which `skipped-notice.ts` reports. */
export const describeInFirefox = findFirefox() === undefined ? describe.skip : describe;

/** A Firefox with a single page and an empty profile, controlled by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/). */
export interface Firefox {
  /** Opens an address and waits until it is loaded. */
  open(url: string): Promise<void>;
  /** @returns the value of an expression in the page, a string, number or boolean, once its promise resolves */
  evaluate(expression: string): Promise<unknown>;
  /** Waits until the page next loads an address. Returns the address. */
  nextLoad(): Promise<string>;
  /** Waits until the page has a response to every request. */
  untilIdle(): Promise<void>;
  /** Removes and returns the errors so far: of the console, of scripts, of the content security policy, of requests. */
  takeErrors(): string[];
  close(): Promise<void>;
}

interface Message {
  type: 'success' | 'error' | 'event';
  id?: number;
  method?: string;
  params?: any;
  result?: any;
  error?: string;
  message?: string;
}

export async function launchFirefox(): Promise<Firefox> {
  const profile = temporaryFolder();
  const browser = spawn(
    findFirefox() ?? '',
    ['--headless', '--no-remote', '--remote-debugging-port', '0', '--profile', profile],
    // Firefox refuses to run as root in the home of someone else.
    { env: { ...process.env, HOME: profile }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const kill = () => browser.kill('SIGKILL');
  process.once('exit', kill);
  const exit = once(browser, 'exit');
  const { send, events } = await connect(`${await addressOf(browser.stderr)}/session`);
  const errors: string[] = [];
  const pending = watchRequests(events, errors);
  events.on('log.entryAdded', ({ level, text }) => {
    if (level === 'error') errors.push(text);
  });
  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['browsingContext.load', 'log.entryAdded', 'network'] });
  const { contexts } = await send('browsingContext.getTree', {});
  const { context } = contexts[0];
  await send('browsingContext.setViewport', { context, viewport: { width: 1440, height: 900 } });
  return {
    async open(url) {
      // Firefox ends the requests of the page that it leaves.
      pending.clear();
      await send('browsingContext.navigate', { context, url, wait: 'complete' });
    },
    async evaluate(expression) {
      const parameters = { expression, target: { context }, awaitPromise: true };
      const { type, result, exceptionDetails } = await send('script.evaluate', parameters);
      if (type === 'exception') throw new Error(exceptionDetails.text);
      return result.value;
    },
    async nextLoad() {
      const [{ url }] = await once(events, 'browsingContext.load');
      return url;
    },
    async untilIdle() {
      while (pending.size > 0) await once(events, 'settled');
    },
    takeErrors: () => errors.splice(0),
    async close() {
      await send('browser.close', {});
      await exit;
      process.off('exit', kill);
      rmSync(profile, { recursive: true, maxRetries: 10 });
    },
  };
}

/** @returns the address that a starting Firefox prints */
const addressOf = (output: Readable): Promise<string> =>
  new Promise((resolve, reject) => {
    const printed: string[] = [];
    // Reads until the end: Firefox would wait when the pipe is full.
    const lines = createInterface({ input: output });
    lines.on('line', (line) => {
      const address = /^WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1];
      if (address === undefined) printed.push(line);
      else resolve(address);
    });
    lines.on('close', () => reject(new Error(`Firefox did not start: ${printed.join('\n')}`)));
  });

/** @returns the requests under way; adds those that fail to the errors, and emits `settled` when a request ends */
function watchRequests(events: EventEmitter, errors: string[]): Set<string> {
  const pending = new Set<string>();
  const settle = (request: string, error?: string) => {
    if (pending.delete(request) && error !== undefined) errors.push(error);
    events.emit('settled');
  };
  events.on('network.beforeRequestSent', ({ request }) => pending.add(request.request));
  events.on('network.responseCompleted', ({ request, response }) => {
    const { method, url } = request;
    settle(request.request, response.status < 400 ? undefined : `${method} ${url}: ${response.status}`);
  });
  events.on('network.fetchError', ({ request, errorText }) => {
    const { method, url } = request;
    // A page may cancel its requests.
    settle(
      request.request,
      errorText === 'NS_BINDING_ABORTED' ? undefined : `${method} ${url}: ${errorText}`,
    );
  });
  return pending;
}

/** Opens a connection, which emits each event under its name with its parameters. */
async function connect(url: string) {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const events = new EventEmitter();
  const calls = new Map<number, { resolve: (result: any) => void; reject: (error: Error) => void }>();
  socket.addEventListener('message', ({ data }) => {
    const { type, id = 0, method = '', params, result, error, message }: Message = JSON.parse(data as string);
    if (type === 'event') events.emit(method, params);
    else if (type === 'success') calls.get(id)?.resolve(result);
    else calls.get(id)?.reject(new Error(`${error}: ${message}`));
    calls.delete(id);
  });
  socket.addEventListener('close', () => {
    for (const { reject } of calls.values()) reject(new Error('Firefox has closed the connection.'));
  });
  let lastId = 0;
  const send = (method: string, params: object): Promise<any> =>
    new Promise((resolve, reject) => {
      lastId += 1;
      calls.set(lastId, { resolve, reject });
      socket.send(JSON.stringify({ id: lastId, method, params }));
    });
  return { events, send };
}
