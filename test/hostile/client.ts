import { Agent, type ClientRequest, request as sendHttp } from 'node:http';
import { connect, type Socket } from 'node:net';

/** The timeout of a request in milliseconds. */
const PATIENCE = 60_000;

export interface Answer {
  status: number;
  text: string;
}

interface Sent {
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** A client with its own IP address, so that it has its own rate limits. */
export class Client {
  readonly #port: number;
  readonly #address: string;
  readonly #token: string | undefined;
  readonly #agent: Agent;

  constructor(port: number, address: string, token?: string) {
    this.#port = port;
    this.#address = address;
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, localAddress: address, maxSockets: 64, maxFreeSockets: 64 });
  }

  /** @returns the response; status 0 if the connection closed without one */
  send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    return new Promise((resolve) => {
      const request = this.open(method, path, sent.headers, (status, text) => resolve({ status, text }));
      request.end(sent.body);
    });
  }

  json(method: string, path: string, body: unknown): Promise<Answer> {
    return this.send(method, path, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  /** Starts a request whose body the caller writes. */
  open(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    onAnswer: (status: number, text: string) => void = () => undefined,
  ): ClientRequest {
    const authorization = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
    const request = sendHttp({
      agent: this.#agent,
      host: '127.0.0.1',
      port: this.#port,
      method,
      path,
      headers: { ...authorization, ...headers },
      timeout: PATIENCE,
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => onAnswer(0, ''));
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', () => onAnswer(0, ''));
      response.on('end', () => onAnswer(response.statusCode ?? 0, Buffer.concat(chunks).toString()));
    });
    return request;
  }

  connect(): Socket {
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress: this.#address });
    socket.on('error', () => undefined);
    return socket;
  }

  /** A request whose response is not read. */
  ignore(path: string, encoding = 'identity'): Socket {
    const socket = this.connect();
    socket.pause();
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${encoding}\r\nAuthorization: Bearer ${this.#token}\r\n\r\n`,
    );
    return socket;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** The body and the headers of a form with these parts; those with a third item are files. */
export function formBody(
  parts: readonly (readonly [name: string, content: string | Buffer, file?: string])[],
) {
  const chunks = parts.flatMap(([name, content, file]) => [
    `--x\r\ncontent-disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}\r\n\r\n`,
    content,
    '\r\n',
  ]);
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    body: Buffer.concat([...chunks, '--x--\r\n'].map((piece) => Buffer.from(piece as string))),
  };
}
