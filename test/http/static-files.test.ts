import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const server = await useSharedServer();

/** Sends a request verbatim and waits until the server closes the connection. */
function sendText(text: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(Number(new URL(server.origin).port), '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      const [head = '', body = ''] = received.split('\r\n\r\n');
      resolve({ status: Number(head.split(' ')[1]), body });
    });
  });
}

const errors = () => server.logs().filter((line) => Number(line['level']) >= 50);

const FILES = ['/docs/static/swagger-ui.css', '/assets/assay.css', '/assets/passkeys.js'];
const HEADERS = [
  'Range: bytes=abc',
  'Range: bytes=99999999-',
  'Range: bytes=5-1',
  'Range: ',
  'If-Match: "x"',
  'If-Match: nonsense',
  'If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT',
  'If-Modified-Since: nonsense',
  'If-None-Match: "',
  'If-Range: "x"\r\nRange: bytes=abc',
  'Accept-Encoding: br;q=nonsense',
];
const PATHS = [
  '..',
  '../index.html',
  '..%2f..%2f..%2f..%2fetc%2fpasswd',
  '%2e%2e/%2e%2e/package.json',
  '%00',
  'swagger-ui.css%00',
  'swagger-ui.css/',
  'swagger-ui.css/x',
  '.',
  '.hidden',
  '%5c..%5c',
  'a'.repeat(200),
  '%ff',
  '//',
];

describe('Static files', () => {
  it.each(FILES.flatMap((file) => HEADERS.map((header) => [file, header] as const)))(
    'return no server error for %s with %j',
    async (file, header) => {
      const before = errors().length;
      const { status } = await sendText(
        `GET ${file} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${header}\r\n\r\n`,
      );
      expect([200, 206, 304, 400, 412, 416]).toContain(status);
      expect(errors().length).toBe(before);
    },
  );

  it.each(['/docs/static/', '/assets/'].flatMap((folder) => PATHS.map((path) => [folder, path] as const)))(
    'return no server error outside %s at %s',
    async (folder, path) => {
      const before = errors().length;
      const { status, body } = await sendText(
        `GET ${folder}${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      );
      expect([200, 302, 303, 400, 403, 404]).toContain(status);
      if (status === 200) expect(body).toContain('<!--');
      expect(errors().length).toBe(before);
    },
  );

  it("return errors in the server's shape, not in a library's", async () => {
    for (const [header, status, kind] of [
      ['Range: bytes=99999999-', 416, 'range-not-satisfiable'],
      ['If-Match: "x"', 412, 'precondition-failed'],
    ] as const) {
      const [name = '', value = ''] = header.split(': ');
      const response = await server.request('GET', '/docs/static/swagger-ui.css', {
        headers: { [name]: value },
      });
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
      expect(response.body).toEqual({
        type: `${server.context.addresses.errorTypeBase}/server/${kind}`,
        title: expect.stringMatching(/./),
        status,
        detail: expect.stringMatching(/^[A-Z].*\.$/),
        instance: response.headers.get('x-request-id'),
      });
    }
  });
});

describe('Aborted uploads', () => {
  it('are not logged as errors', async () => {
    const { token } = await createFixtures(server).user();
    const head = [
      'POST /v1/assessment_tags HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Content-Length: 1000',
      'Expect: 100-continue',
    ].join('\r\n');
    await new Promise<void>((resolve, reject) => {
      const { port } = new URL(server.origin);
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(`${head}\r\n\r\n`));
      // The server is ready to read.
      socket.once('data', () => socket.end('{"name":'));
      socket.on('close', () => resolve()).on('error', reject);
    });
    const noticed = () => server.logs().some((line) => line['code'] === 'HPE_INVALID_EOF_STATE');
    await expect.poll(noticed).toBe(true);
    // Any error has been logged before this responds.
    await server.request('GET', '/healthz');
    expect(errors()).toEqual([]);
  });
});
