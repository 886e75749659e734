import { Agent, request } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import type { Person } from './mix-data.ts';

/** `write`: of one vulnerability; `bulk`: of twenty; `import`: from the upload to the end of the import. */
export const KINDS = ['read', 'write', 'bulk', 'import', 'export'] as const;
export type Kind = (typeof KINDS)[number];

/** Texts of unexpected responses in a report; the others are only counted. */
const MAX_SAMPLES = 5;
/** Connections of a browser to one server (HTTP/1.1). */
const CONNECTIONS = 6;

/** Latencies in milliseconds, and unexpected responses. */
export class Recorder {
  readonly latencies: Record<Kind, number[]> = { read: [], write: [], bulk: [], import: [], export: [] };
  /** Number of responses by status, method and path, or of failed connections. */
  readonly unexpected: Record<string, number> = {};
  readonly samples: string[] = [];
  /** The reads that took longest. */
  readonly slowest: { milliseconds: number; route: string }[] = [];
  serverErrors = 0;

  add(kind: Kind, since: number, route: string): void {
    const milliseconds = performance.now() - since;
    this.latencies[kind].push(milliseconds);
    if (kind !== 'read' || milliseconds <= (this.slowest[MAX_SAMPLES - 1]?.milliseconds ?? 0)) return;
    this.slowest.push({ milliseconds, route });
    this.slowest.sort((one, other) => other.milliseconds - one.milliseconds);
    this.slowest.length = Math.min(this.slowest.length, MAX_SAMPLES);
  }

  addUnexpected(status: number | string, route: string, text: string): void {
    if (typeof status === 'number' && status >= 500) this.serverErrors += 1;
    const [path = ''] = route.split('?');
    const name = `${status} ${path.replaceAll(/\d+/g, '…')}`;
    this.unexpected[name] = (this.unexpected[name] ?? 0) + 1;
    if (this.samples.length < MAX_SAMPLES) this.samples.push(`${status} ${route}: ${text.slice(0, 300)}`);
  }
}

/** The server closed an idle connection while a request was sent on it. Browsers send it again. */
class StaleConnection extends Error {
  override name = 'StaleConnection';
}

/** An action cannot go on after this; the recorder has counted it. */
export class UnexpectedResponse extends Error {
  override name = 'UnexpectedResponse';
}

export const openAgent = ({ address }: Person): Agent =>
  new Agent({ keepAlive: true, maxSockets: CONNECTIONS, localAddress: address });

export type Query = Readonly<Record<string, string | number | boolean | readonly (string | number)[]>>;

export function pathWith(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(String(one))}`),
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

interface SendOptions {
  body?: { type: string; content: Buffer };
  accept?: string;
}

/** The requests of one action of a person. The first are due when the action is, others when the browser sends them. */
export class Tab {
  readonly #options: { port: number; token: string; agent: Agent; recorder: Recorder };
  readonly #due: number;
  #isAnswered = false;

  constructor(options: { port: number; token: string; agent: Agent; recorder: Recorder }, due: number) {
    this.#options = options;
    this.#due = due;
  }

  /** Reads JSON. @throws UnexpectedResponse */
  async read(path: string, query: Query = {}): Promise<{ data: unknown; headers: Headers }> {
    const address = pathWith(path, query);
    const { text, headers } = await this.timed('read', address, () => this.send('GET', address));
    return { data: JSON.parse(text()), headers };
  }

  /** Sends JSON. @throws UnexpectedResponse */
  async write(path: string, body: unknown, kind: Kind = 'write'): Promise<unknown> {
    const content = Buffer.from(JSON.stringify(body));
    const { text } = await this.timed(kind, path, () =>
      this.send('POST', path, { body: { type: 'application/json', content } }),
    );
    return JSON.parse(text());
  }

  /** Measures what may be several requests. */
  async timed<T>(kind: Kind, path: string, work: () => Promise<T>): Promise<T> {
    const since = this.#isAnswered ? performance.now() : this.#due;
    const result = await work();
    this.#isAnswered = true;
    this.#options.recorder.add(kind, since, path);
    return result;
  }

  /** Sends a request without measuring it. @throws UnexpectedResponse for a status other than 2xx */
  async send(method: string, path: string, options: SendOptions = {}): Promise<Answer> {
    const { recorder } = this.#options;
    const route = `${method} ${path}`;
    const answer = await this.#sendAsBrowser(method, path, options).catch((error: NodeJS.ErrnoException) => {
      recorder.addUnexpected(error.code ?? error.name, route, error.message);
      throw new UnexpectedResponse(route, { cause: error });
    });
    if (answer.status >= 300) {
      recorder.addUnexpected(answer.status, route, answer.text());
      throw new UnexpectedResponse(route);
    }
    return answer;
  }

  async #sendAsBrowser(method: string, path: string, options: SendOptions): Promise<Answer> {
    try {
      return await this.#request(method, path, options);
    } catch (error) {
      if (error instanceof StaleConnection) return this.#request(method, path, options);
      throw error;
    }
  }

  #request(method: string, path: string, { body, accept }: SendOptions): Promise<Answer> {
    const { port, token, agent } = this.#options;
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port,
          path,
          method,
          agent,
          headers: {
            authorization: `Bearer ${token}`,
            'accept-encoding': 'br',
            accept: accept ?? 'application/json',
            ...(body === undefined
              ? {}
              : { 'content-type': body.type, 'content-length': body.content.length }),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const headers = response.headers as Headers;
            const text = () => {
              const content = Buffer.concat(chunks);
              return String(headers['content-encoding'] === 'br' ? brotliDecompressSync(content) : content);
            };
            resolve({ status: response.statusCode ?? 0, headers, text });
          });
        },
      );
      outgoing.on('error', (error: NodeJS.ErrnoException) =>
        reject(error.code === 'ECONNRESET' && outgoing.reusedSocket ? new StaleConnection() : error),
      );
      outgoing.end(body?.content);
    });
  }
}

type Headers = Record<string, string | undefined>;

interface Answer {
  status: number;
  headers: Headers;
  /** Decodes the body: most are only counted. */
  text: () => string;
}
