import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isInstalled } from '../harness/machine.ts';
import { temporaryFolder } from '../harness/temporary.ts';
import { type CommandLine, startCommandLine } from './command-line.ts';
import { startForwardedCommands } from './forwarded-commands.ts';

let assay: CommandLine;
let forwardedCommands: Awaited<ReturnType<typeof startForwardedCommands>>;
beforeEach(async () => {
  assay = await startCommandLine();
  forwardedCommands = await startForwardedCommands(assay);
});
afterEach(async () => {
  forwardedCommands.close();
  await assay.close();
});

it('The tutorial imports scanner reports as written', async () => {
  const root = join(import.meta.dirname, '../..');
  const [, section = ''] =
    /\n## Import scanner reports\n(.*?)\n## /s.exec(readFileSync(join(root, 'docs/tutorial.md'), 'utf8')) ??
    [];
  const script = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join('');
  const [, undo = ''] = /`npx assay (import undo \d+)`/.exec(section) ?? [];
  await assay.json('organization', 'create', 'scans', '--name', 'Scans');
  await assay.json('assessment', 'create', 'lumen-shop', '--organization', 'scans', '--name', 'Shop');
  const { code, stdout, stderr } = await assay.shell(
    [
      `set -eu; export ASSAY_DATA='${assay.database.dataDirectory}'; cd '${temporaryFolder()}'`,
      script
        .replaceAll('npx assay', forwardedCommands.command)
        .replaceAll('test/fixtures', join(root, 'test/fixtures')),
    ].join('\n'),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n').at(-1)).toMatch(/ Fixed +WAF Detection/);
  expect(await assay.json(...undo.split(' '))).toMatchObject({ undone: { statuses: 1 } });
});

it.runIf(isInstalled('curl'))('The tutorial with your own data runs as written', async () => {
  const server = await assay.serve('--no-demo');
  const tutorial = readFileSync(join(import.meta.dirname, '../../docs/tutorial.md'), 'utf8');
  const [, story = ''] = /\n## Your own data\n(.*?)\n## /s.exec(tutorial) ?? [];
  const script = [...story.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join('');
  expect(script.match(/^npx assay /gm)?.length).toBeGreaterThan(12);

  const folder = temporaryFolder();
  const { code, stdout, stderr } = await assay.shell(
    [
      `set -eu; cd '${folder}'`,
      script
        .replaceAll('npx assay', forwardedCommands.command)
        .replaceAll('http://127.0.0.1:8080', server.origin)
        .replaceAll('ASSAY_DATA=my-data', `ASSAY_DATA='${assay.database.dataDirectory}'`),
    ].join('\n'),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lastLine = stdout.trim().split('\n').at(-1) ?? '';
  expect(JSON.parse(lastLine)).toEqual([
    { id: 1, title: 'SQL injection in the search', status: 'Fixed', closed_at: expect.any(String) },
  ]);
  const [head, ...rows] = readFileSync(join(folder, 'findings.csv'), 'utf8').trimEnd().split('\r\n');
  expect(head).toMatch(/^id,title,/);
  expect(rows).toHaveLength(1);
  await server.stop();
});
