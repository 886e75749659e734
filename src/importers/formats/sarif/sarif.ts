import { recordOfSarifResult } from './sarif-results.ts';
import { SarifMessages } from './sarif-messages.ts';
import { RULES, RUN_PATHS, SarifRun } from './sarif-runs.ts';
import { collectMatches, streamJsonMatches } from '../../parsing/json-stream.ts';
import { asJsonObject, isJsonObject } from '../../parsing/json-values.ts';
import type { ReportError, ReportFormat, ReportRecord } from '../../report.ts';

/** SARIF 2.1.0 (OASIS) of any tool. Read twice, because rules, artifacts and the tool may follow the results. */
export const sarif: ReportFormat = {
  name: 'sarif',
  title: 'SARIF 2.1.0',
  hasFindings: true,
  detect({ json }) {
    if (!isJsonObject(json)) return false;
    const hasSchema = typeof json.$schema === 'string' && json.$schema.includes('sarif');
    // The runs may come first and be long.
    const isRun = (run: unknown): boolean => 'driver' in asJsonObject(asJsonObject(run).tool);
    return (
      Array.isArray(json.runs) &&
      (hasSchema || String(json.version).startsWith('2.') || json.runs.some(isRun))
    );
  },
  async *read(source) {
    const runs = new Map<number, SarifRun>();
    const runAt = (index: number): SarifRun => {
      const run = runs.get(index) ?? new SarifRun();
      if (runs.size < MAX_RUNS) runs.set(index, run);
      return run;
    };
    const failure: ReportError | undefined = await collectMatches(
      source(),
      RUN_PATHS,
      (match) => runAt(match.keys[1] as number).take(match),
      { begins: [RULES] },
    );
    const messages = new SarifMessages();
    for await (const { keys, value, offset } of streamJsonMatches(source(), ['runs.*.results.*'])) {
      const run = runAt(keys[1] as number);
      const result = asJsonObject(value);
      // Without the missing metadata the result would get another identity.
      if (failure !== undefined && run.isMissingPartsFor(result, offset)) throw failure;
      const record = recordOfSarifResult(result, run, messages, { offset });
      if (record.kind === 'finding') run.addResultOf(record.finding.checks);
      yield record;
    }
    yield* reportOf([...runs.values()]);
  },
};

const MAX_RUNS = 10_000;

function* reportOf(runs: readonly SarifRun[]): Generator<ReportRecord> {
  const times = runs.map((run) => run.scannedAt).filter((time) => time !== undefined);
  const knownTimes = times.filter((time) => !Number.isNaN(time));
  if (times.length > 0)
    yield { kind: 'report', scannedAt: knownTimes.length === 0 ? Number.NaN : Math.max(...knownTimes) };
  const complete = runs.filter((run) => run.isComplete);
  const keyOf = (run: SarifRun): string => JSON.stringify([run.source, run.artifact]);
  const broken = new Set(runs.filter((run) => !run.isComplete).map(keyOf));
  const coverage = new Map<string, { run: SarifRun; checks: ReadonlySet<string> | 'all' }>();
  for (const run of complete) {
    const earlier = coverage.get(keyOf(run))?.checks ?? new Set<string>();
    const checks = earlier === 'all' || run.checks === 'all' ? 'all' : new Set([...earlier, ...run.checks]);
    coverage.set(keyOf(run), { run, checks });
  }
  for (const [key, { run, checks }] of coverage) {
    if (broken.has(key) || (checks !== 'all' && checks.size === 0)) continue;
    yield {
      kind: 'covered',
      target: { artifact: run.artifact },
      source: run.source,
      checks: checks === 'all' ? checks : [...checks],
    };
  }
}
