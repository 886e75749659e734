import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { addCommand } from '../command.ts';
import { awaitImportEnd, IMPORT_ENDPOINT, type RemoteImport, InterruptSignal } from './api.ts';
import { JsonResultWriter, ResultTable } from './results.ts';
import { createProgressDisplay } from './progress.ts';
import { failureMessage } from './import-files.ts';
import { streams } from '../streams.ts';
import { addTargetOptions } from '../operation-commands.ts';
import { keyValueLines, printJson, printLines } from '../print.ts';
import { type TargetFlags, withApiClient } from '../command-target.ts';
import { CliError } from '../errors.ts';

interface ImportSubcommandOptions extends TargetFlags {
  json?: boolean;
}

/** How often the state of an undo is polled, in milliseconds. */
const POLL_INTERVAL = 100;

/**
 * Adds `follow` and `undo`, which run the import or undo themselves if they use the data directory and no server does.
 */
export function addImportSubcommands(group: Command): void {
  const follow = addCommand(group, 'follow <id>', {
    description: 'Show the progress of an import until it ends.',
    notes:
      'On the data directory, runs the import if no server does. Ctrl-C cancels the import; a second Ctrl-C exits without\nwaiting.',
    examples: [['assay import follow 12']],
  });
  addTargetOptions(follow);
  follow.action((id: string, flags: ImportSubcommandOptions) => followImport(parseImportId(id), flags));

  const undo = addCommand(group, 'undo <id>', {
    description: 'Undo an import.',
    notes:
      'Leaves what the other imports give: deletes the findings, assets and ports that only this import saw, and sets back\n' +
      'statuses and texts. What users have changed stays, and so do assets that your token cannot delete. Only admins and\n' +
      'the user who started the import can undo it.',
    examples: [['assay import undo 12']],
  });
  addTargetOptions(undo);
  undo.action((id: string, flags: ImportSubcommandOptions) => undoImport(parseImportId(id), flags));
}

function parseImportId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new CliError(`ID must be the id of an import, not "${text}".`, 2);
  return Number(text);
}

async function followImport(id: number, { json, ...flags }: ImportSubcommandOptions): Promise<void> {
  const interruption = new InterruptSignal();
  const progress = createProgressDisplay(streams().stderr, `import ${id}`);
  try {
    const job = await withApiClient(
      flags,
      (client) => awaitImportEnd(client, id, { interruption, show: (now) => progress.update(now) }),
      { doesImports: true },
    );
    progress.stop();
    const result = { file: job.file.filename, job };
    (json === true ? new JsonResultWriter() : new ResultTable()).add(result);
    const failure = failureMessage(result);
    if (failure !== undefined) throw new CliError(failure);
  } finally {
    progress.stop();
    interruption.close();
  }
}

async function undoImport(id: number, { json, ...flags }: ImportSubcommandOptions): Promise<void> {
  const params = { path: { id: String(id) } };
  const job = await withApiClient(
    flags,
    async (client) => {
      await client.POST(`${IMPORT_ENDPOINT}/undo`, { params });
      for (;;) {
        const { data } = await client.GET(IMPORT_ENDPOINT, { params });
        if ((data as RemoteImport).undone !== null) return data as RemoteImport;
        await delay(POLL_INTERVAL);
      }
    },
    { doesImports: true },
  );
  if (json === true) return printJson(job);
  const { findings = 0, assets = 0, statuses = 0, kept: keptCount = 0 } = job.undone ?? {};
  printLines(
    ...keyValueLines({
      import: id,
      'findings deleted': findings,
      'assets deleted': assets,
      'statuses restored': statuses,
      'kept (also in another import, changed, or not permitted)': keptCount,
    }),
  );
}
