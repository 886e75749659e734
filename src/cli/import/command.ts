import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { SEVERITIES } from '../../domain/vulnerabilities/statuses-and-severities.ts';
import { addCommand, setInputNames } from '../command.ts';
import { isFolder, findReports, watchFolders } from './report-files.ts';
import { type ImportFields, CtrlC } from './api.ts';
import type { ColumnMappingOptions } from './column-mapping.ts';
import { addMappingOptions, readGivenMapping, type Mapping, type MappingFlags } from './mapping-options.ts';
import { promptMapping } from './mapping-prompt.ts';
import { streams } from '../streams.ts';
import { importNmapHosts } from './nmap.ts';
import { JsonResultWriter, ResultTable } from './results.ts';
import { addImportSubcommands } from './subcommands.ts';
import { importFiles } from './import-files.ts';
import { addTargetOptions } from '../operation-commands.ts';
import { parseChoiceOption } from '../operation-options.ts';
import { type TargetFlags, resolveServer, withApiClient } from '../command-target.ts';
import { CliError } from '../errors.ts';

interface ImportCommandOptions extends TargetFlags, MappingFlags {
  json?: boolean;
  organization?: string;
  assessment?: string;
  whenGone?: string;
  target?: string[];
  scannedAt?: string;
  minimumSeverity?: string;
  tag?: string[];
  carry?: boolean;
  dryRun?: boolean;
  watch?: boolean;
}

const NOTES = `
The format is recognised by what is in a report; name it where that fails.
What is found becomes vulnerabilities of the assessment; hosts and their ports
become assets of the organization, for which no assessment is needed. A report
that was imported before changes nothing. Gzip, and a zip of one file, are
unpacked.
Of a folder every file is imported; with --watch also what appears in it, until
Ctrl-C. A first word that is a format or a command is that; a file of the same
name is written ./list.
On a terminal you are asked which column of a CSV file is which, where their
names do not tell; elsewhere --map or --mapping says so.
Ctrl-C cancels the import that runs: what it has done stays, and "assay import
undo" takes it away. A second Ctrl-C does not wait for that.
"import nmap FILE --organization UID" alone, on the data folder, lists the
hosts of the report.
`.trim();

export function registerImportCommand(program: Command): void {
  const command = addCommand(program, 'import [words...]', {
    description: 'Import reports of scanners: files, folders, or "-" for standard input',
    notes: NOTES,
    json: false,
    examples: [
      ['assay import nuclei.jsonl zap.xml --assessment acme-web', 'findings, of two scanners'],
      ['assay import scan.xml --organization acme', 'hosts and their ports'],
      ['assay import zap.xml --assessment acme-web --when-gone fix', 'what it no longer has is fixed'],
      ['assay import nuclei.jsonl --assessment acme-web --target https://shop.acme.example --dry-run', ''],
      ['assay import csv findings.csv --assessment acme-web --map title=Name --map severity=Risk', ''],
      ['assay import reports/ --watch --assessment acme-web', 'as they appear'],
      ['nmap -sV -oX - 192.0.2.0/24 | assay import nmap - --organization acme', 'and lists them'],
      ['assay import list', 'what was imported'],
      ['assay import undo 12', 'takes away what import 12 alone made'],
    ],
  })
    .usage('[options] [format] <file|folder|->...\n       assay import [command]')
    .helpCommand('help [command]', 'explain a command')
    // Options behind a command are the command's.
    .enablePositionalOptions()
    .option('--assessment <uid>', 'whose findings they are; not needed for hosts')
    .option('--organization <uid>', 'whose hosts they are, where no assessment says so')
    .option('--dry-run', 'change nothing, and show what would be new, again, reopened and gone')
    .option(
      '--when-gone <what>',
      'keep (the default) or fix what a report covers and no longer has',
      (text) => parseChoiceOption(text, ['keep', 'fix']),
    )
    .option(
      '--target <address>',
      'what was scanned, where a report does not say (may be given again)',
      collect,
    )
    .option('--scanned-at <time>', 'when it was scanned, where a report does not say (ISO 8601)')
    .option('--minimum-severity <severity>', `make nothing below it: ${SEVERITIES.join(', ')}`, (text) =>
      parseChoiceOption(text, SEVERITIES),
    )
    .option('--tag <name>', 'put on what is made (may be given again)', collect)
    .option('--carry', 'take over what people decided on the same finding in other assessments')
    .option('--watch', 'go on with what appears in the folders')
    .option('--json', 'print JSON, a line a report');
  addMappingOptions(command);
  addTargetOptions(command);
  setInputNames(command, INPUTS);
  addImportSubcommands(command);
  command.action((words: string[], flags: ImportCommandOptions) => importReports(words, flags, command));
}

const collect = (one: string, before: string[] = []): string[] => [...before, one];

/** What the operation calls what the options fill. */
const INPUTS = {
  assessment_id: 'assessment',
  organization_uid: 'organization',
  when_gone: 'whenGone',
  targets: 'target',
  scanned_at: 'scannedAt',
  minimum_severity: 'minimumSeverity',
  tags: 'tag',
  dry_run: 'dryRun',
  mapping: 'map',
};

async function importReports(
  words: readonly string[],
  flags: ImportCommandOptions,
  command: Command,
): Promise<void> {
  if (words.length === 0) command.help({ error: true });
  const formats = await formatNames();
  const { format, files } = splitFormatAndFiles(words, formats);
  if (flags.watch === true && !files.every((file) => isFolder(file)))
    throw new CliError('--watch is for folders.', 2);
  const [file = ''] = files;
  if (format === 'nmap' && files.length === 1 && isLocalNmapImport(command, flags) && !isFolder(file, false))
    return importNmapHosts(file, flags, command);
  const known =
    flags.watch === true
      ? undefined
      : await findReports(files).catch((error: unknown) => {
          const [first = '', second] = words;
          // What was meant for a format is the first word, and looks like no file.
          if (
            second === undefined ||
            format !== undefined ||
            /[./\\]/.test(first) ||
            first === '-' ||
            existsSync(first)
          )
            throw error;
          throw new CliError(
            `There is no file ${first}, and no format is called so: these are ${formats.join(', ')}.`,
            2,
          );
        });
  const mapping = readGivenMapping(flags);
  const fields = uploadFields(flags, format, mapping);

  const interruption = new CtrlC();
  try {
    await withApiClient(
      flags,
      async (client) => {
        const output = flags.json === true ? new JsonResultWriter() : new ResultTable();
        const columns = {
          format,
          mapping,
          prompt: flags.watch === true ? undefined : createPrompts(interruption.cancel),
        };
        const importing = { client, fields, columns, interruption, output, command, count: known?.length };
        await importFiles(importing, known ?? watchFolders(files, interruption.cancel));
      },
      { doesImports: true },
    );
  } finally {
    interruption.close();
  }
}

/** @returns what asks a person at a terminal for the columns of a report, of the same columns once; `undefined` where there is none */
function createPrompts(signal: AbortSignal): ColumnMappingOptions['prompt'] {
  const { stdin, stderr } = streams();
  if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined;
  const answered = new Map<string, Mapping>();
  return async (rows) => {
    const columns = JSON.stringify(rows[0]);
    const mapping =
      answered.get(columns) ?? (await promptMapping({ input: stdin, output: stderr }, rows, signal));
    answered.set(columns, mapping);
    return mapping;
  };
}

/**
 * Tells a format from files: the first word is one where it is called so and files follow.
 * @throws Refusal where no file is named
 */
export function splitFormatAndFiles(
  words: readonly string[],
  formats: readonly string[],
): { format: string | undefined; files: readonly string[] } {
  const [first = '', ...rest] = words;
  if (!formats.includes(first)) return { format: undefined, files: words };
  if (rest.length === 0)
    throw new CliError(
      `Which report? "assay import ${first} FILE", or ./${first} where a file is called so.`,
      2,
    );
  return { format: first, files: rest };
}

/** @returns what a report may be called, beside being recognised */
async function formatNames(): Promise<string[]> {
  const { REPORT_FORMATS } = await import('../../importers/formats/index.ts');
  return REPORT_FORMATS.map(({ name }) => name);
}

/** The options of a plain import of hosts, which lists them. */
const LOCAL_NMAP_OPTIONS: ReadonlySet<string> = new Set(['organization', 'data', 'json']);

function isLocalNmapImport(command: Command, flags: ImportCommandOptions): boolean {
  const given = command.options
    .map((option) => option.attributeName())
    .filter((name) => command.getOptionValueSource(name) === 'cli');
  return given.every((name) => LOCAL_NMAP_OPTIONS.has(name)) && resolveServer(flags) === undefined;
}

/** @returns the parts of the upload that stand before the file */
function uploadFields(
  flags: ImportCommandOptions,
  format: string | undefined,
  mapping: Readonly<Record<string, string>> | undefined,
): ImportFields {
  const one = {
    format,
    assessment_id: flags.assessment,
    organization_uid: flags.organization,
    when_gone: flags.whenGone,
    scanned_at: flags.scannedAt,
    minimum_severity: flags.minimumSeverity,
    carry: flags.carry,
    dry_run: flags.dryRun,
    mapping: mapping && JSON.stringify(mapping),
  };
  return [
    ...Object.entries(one).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
    ...(flags.target ?? []).map((target): [string, string] => ['targets', target]),
    ...(flags.tag ?? []).map((tag): [string, string] => ['tags', tag]),
  ];
}
