import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '../harness/temporary.ts';
import type { CommandLine } from './command-line.ts';

interface ForwardedCommand {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
}

/** Passes a command to the process of the test, prints its output and exits with its code. */
const FORWARDING_SCRIPT = `
const [path, ...argv] = process.argv.slice(2);
const socket = require('node:net').connect({ path, allowHalfOpen: true });
socket.end(JSON.stringify({ argv, env: process.env, cwd: process.cwd() }));
require('node:stream/consumers').json(socket).then(({ code, stdout, stderr }) => {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code;
});
`;

/**
 * Replaces `npx assay` in shell scripts: runs commands in the process of the test, where the program is already loaded.
 */
export async function startForwardedCommands(
  assay: CommandLine,
): Promise<{ command: string; close(): void }> {
  const folder = temporaryFolder();
  const [script, path] = [join(folder, 'assay.cjs'), join(folder, 'socket')];
  writeFileSync(script, FORWARDING_SCRIPT);
  // Commands run one at a time, because they share the working directory.
  let last = Promise.resolve();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    const sent: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => sent.push(chunk));
    const ended = once(socket, 'end');
    last = last.then(async () => {
      await ended;
      const { argv, env, cwd } = JSON.parse(Buffer.concat(sent).toString()) as ForwardedCommand;
      const before = process.cwd();
      process.chdir(cwd);
      try {
        socket.end(JSON.stringify(await assay.run(argv, { env })));
      } catch (error) {
        socket.end(JSON.stringify({ code: 70, stdout: '', stderr: String(error) }));
      } finally {
        process.chdir(before);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return { command: `'${process.execPath}' '${script}' '${path}'`, close: () => server.close() };
}
