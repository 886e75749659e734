import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { curlCommand } from '../../console/src/components/curl-command.ts';
import { isLinear } from '../harness/growth.ts';

/** The arguments that bash passes to curl. */
const argumentsOf = (request: string): string[] =>
  execFileSync('bash', ['--norc', '-c', `curl() { printf '%s\\0' "$@"; }\n${curlCommand(request)}`], {
    encoding: 'utf8',
    env: { LC_ALL: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
    .split('\0')
    .slice(0, -1);

describe('Console: curl commands', () => {
  it('send the headers and the body of a request', () => {
    const request = [
      'PUT /items HTTP/1.1',
      'Host: a.example:8443',
      'Content-Type: application/json',
      'Content-Length: 9',
      'X-Empty:',
      '',
      '{"a":"b"}',
    ].join('\r\n');
    expect(argumentsOf(request)).toEqual([
      'https://a.example:8443/items',
      '-X',
      'PUT',
      '-H',
      'Content-Type: application/json',
      '-H',
      'X-Empty;',
      '--data-raw',
      '{"a":"b"}',
    ]);
  });

  it('use the methods of curl, and its options for unusual paths', () => {
    expect(argumentsOf('GET /a HTTP/2\nHost: a.example:80')).toEqual(['http://a.example:80/a']);
    expect(argumentsOf('HEAD http://[::1]/../a HTTP/1.1')).toEqual([
      'http://[::1]/../a',
      '--globoff',
      '--path-as-is',
      '--head',
    ]);
    expect(argumentsOf('POST /a HTTP/1.1\nHost: a.example\n\nb')).toEqual([
      'https://a.example/a',
      '--data-raw',
      'b',
    ]);
  });

  it('contain the text of evidence as data only', () => {
    const payload = `'; touch /tmp/x; ' "$(id)" \`id\` \\ !! \u001b[201~\u009bb\r\n\tä`;
    const command = curlCommand(
      `POST /'$(id) HTTP/1.1\nHost: a.example\nA'b: ${payload.slice(0, 30)}\n\n${payload}`,
    );
    expect(command).not.toMatch(/(?!\n)\p{Cc}/u);
    const sent = argumentsOf(`POST /'$(id) HTTP/1.1\nHost: a.example\nA: 'b'\n\n${payload}`);
    expect(sent).toEqual(["https://a.example/'$(id)", '-H', "A: 'b'", '--data-raw', payload]);
  });

  it('are absent for other texts, and without a valid host', () => {
    expect(curlCommand('HTTP/1.1 200 OK\n\nyes')).toBeUndefined();
    expect(curlCommand('GET / HTTP/1.1\nAccept: */*')).toBeUndefined();
    expect(curlCommand('GET / HTTP/1.1\nHost: a.example/$(id)')).toBeUndefined();
    expect(curlCommand('GET - HTTP/1.1\nHost: a.example')).toBeUndefined();
  });

  it.each(['\n', '\r\n', ' ', 'A: \r', "'"])('are built in linear time from %j', (unit) => {
    const request = (length: number) => `POST / HTTP/1.1\nHost: a.example\nA:${unit.repeat(length)}b`;
    expect(isLinear(curlCommand, request)).toBe(true);
  });
});
