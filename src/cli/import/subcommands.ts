import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { addCommand } from '../command.ts';
import { awaitImportEnd, IMPORT_ENDPOINT, type ImportJob, CtrlC } from './api.ts';
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

/** How often it is asked whether an import is undone, in milliseconds. */
const POLL_INTERVAL = 100;

/** Adds what waits for the end of an import, or of its undo, and on the data folder does the work where no server does. */
export function addImportSubcommands(family: Command): void {
  const follow = addCommand(family, 'follow <id>', {
    description: 'Show how far an import is, until it ends',
    notes:
      'On the data folder it does what no server does. Ctrl-C cancels the import, a second one does not wait for that.',
    examples: [['assay import follow 12']],
  });
  addTargetOptions(follow);
  follow.action((id: string, flags: ImportSubcommandOptions) => watchImport(parseImportId(id), flags));

  const undo = addCommand(family, 'undo <id>', {
    description: 'Take away what an import alone made, and set back the statuses that it set',
    notes:
      'What a person or another import touched since stays, and so do ports. The report counts as never seen.\n' +
      'Who started the import may do it, and admins. It resolves when it is done.',
    examples: [['assay import undo 12']],
  });
  addTargetOptions(undo);
  undo.action((id: string, flags: ImportSubcommandOptions) => undoImport(parseImportId(id), flags));
}

/** @throws Refusal for what is no id */
function parseImportId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new CliError(`ID must be the number of an import, not "${text}".`, 2);
  return Number(text);
}

async function watchImport(id: number, { json, ...flags }: ImportSubcommandOptions): Promise<void> {
  const interruption = new CtrlC();
  const progress = createProgressDisplay(streams().stderr, `import ${id}`);
  try {
    const job = await withApiClient(
      flags,
      (client) => awaitImportEnd(client, id, { interruption, show: (now) => progress.update(now) }),
      { doesImports: true },
    );
    progress.stop();
    const outcome = { file: job.file.filename, job };
    (json === true ? new JsonResultWriter() : new ResultTable()).add(outcome);
    const failure = failureMessage(outcome);
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
        if ((data as ImportJob).undone !== null) return data as ImportJob;
        await delay(POLL_INTERVAL);
      }
    },
    { doesImports: true },
  );
  if (json === true) return printJson(job);
  const { findings = 0, assets = 0, statuses = 0, kept = 0 } = job.undone ?? {};
  printLines(
    ...keyValueLines({
      import: id,
      'findings taken away': findings,
      'assets taken away': assets,
      'statuses set back': statuses,
      'kept, as others touched it': kept,
    }),
  );
}
