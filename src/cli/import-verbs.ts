import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { addCommand } from './command.ts';
import { followImport, IMPORT, type ImportJob, Interruption } from './import-job.ts';
import { OutcomesAsJson, OutcomeTable } from './import-outcome.ts';
import { showImport } from './import-progress.ts';
import { failureOf } from './import-run.ts';
import { io } from './io.ts';
import { addPlace } from './operation-command.ts';
import { pairs, printJson, printLines } from './output.ts';
import { type PlaceFlags, withOperations } from './place.ts';
import { Refusal } from './refusal.ts';

interface VerbFlags extends PlaceFlags {
  json?: boolean;
}

/** How often it is asked whether an import is undone, in milliseconds. */
const LOOK_EVERY = 100;

/** Adds what waits for the end of an import, or of its undo, and on the data folder does the work where no server does. */
export function addImportVerbs(family: Command): void {
  const follow = addCommand(family, 'follow <id>', {
    description: 'Show how far an import is, until it ends',
    notes:
      'On the data folder it does what no server does. Ctrl-C cancels the import, a second one does not wait for that.',
    examples: [['assay import follow 12']],
  });
  addPlace(follow);
  follow.action((id: string, flags: VerbFlags) => followOne(idOf(id), flags));

  const undo = addCommand(family, 'undo <id>', {
    description: 'Take away what an import alone made, and set back the statuses that it set',
    notes:
      'What a person or another import touched since stays, and so do ports. The report counts as never seen.\n' +
      'Who started the import may do it, and admins. It resolves when it is done.',
    examples: [['assay import undo 12']],
  });
  addPlace(undo);
  undo.action((id: string, flags: VerbFlags) => undoImport(idOf(id), flags));
}

/** @throws Refusal for what is no id */
function idOf(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new Refusal(`ID must be the number of an import, not "${text}".`, 2);
  return Number(text);
}

async function followOne(id: number, { json, ...flags }: VerbFlags): Promise<void> {
  const interruption = new Interruption();
  const progress = showImport(io().stderr, `import ${id}`);
  try {
    const job = await withOperations(
      flags,
      (client) => followImport(client, id, { interruption, show: (now) => progress.update(now) }),
      { doesImports: true },
    );
    progress.stop();
    const outcome = { file: job.file.filename, job };
    (json === true ? new OutcomesAsJson() : new OutcomeTable()).add(outcome);
    const failure = failureOf(outcome);
    if (failure !== undefined) throw new Refusal(failure);
  } finally {
    progress.stop();
    interruption.close();
  }
}

async function undoImport(id: number, { json, ...flags }: VerbFlags): Promise<void> {
  const params = { path: { id: String(id) } };
  const job = await withOperations(
    flags,
    async (client) => {
      await client.POST(`${IMPORT}/undo`, { params });
      for (;;) {
        const { data } = await client.GET(IMPORT, { params });
        if ((data as ImportJob).undone !== null) return data as ImportJob;
        await delay(LOOK_EVERY);
      }
    },
    { doesImports: true },
  );
  if (json === true) return printJson(job);
  const { findings = 0, assets = 0, statuses = 0, kept = 0 } = job.undone ?? {};
  printLines(
    ...pairs({
      import: id,
      'findings taken away': findings,
      'assets taken away': assets,
      'statuses set back': statuses,
      'kept, as others touched it': kept,
    }),
  );
}
