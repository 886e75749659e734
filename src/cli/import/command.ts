import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { loadCommandEnvironment } from '../../config/config.ts';
import { SEVERITIES } from '../../domain/shared/statuses-and-severities.ts';
import { addCommand, setInputNames } from '../command.ts';
import { isFolder, findReports, watchFolders } from './report-files.ts';
import { type ImportFields, InterruptSignal } from './api.ts';
import type { ColumnMappingOptions } from './column-mapping.ts';
import { addMappingOptions, parseMapping, type Mapping, type MappingFlags } from './mapping-options.ts';
import { promptMapping } from './mapping-prompt.ts';
import { programName, streams } from '../streams.ts';
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
  dateOrder?: string;
  minimumSeverity?: string;
  tag?: string[];
  carry?: boolean;
  draft?: boolean;
  listAssets?: boolean;
  dryRun?: boolean;
  watch?: boolean;
}

const NOTES = `
The format is detected from the content, or can be given before the files.
Findings become vulnerabilities of the assessment. Hosts and ports become
assets of the organization and need no assessment. Importing the same report
again changes nothing. Gzip files, and zip files that contain one file, are
decompressed.
A folder imports all of its files; --watch also imports new and changed files
until Ctrl-C. To import a file named like a format or a command, write ./list.
If the columns of a CSV file are not recognised, you are prompted on a terminal;
otherwise use --map or --mapping.
Ctrl-C cancels the running import. What was imported stays until you run "assay
import undo". A second Ctrl-C exits without waiting.
"assay import nmap FILE --organization UID" on the data directory, without other
options, also lists the hosts of the report.
`.trim();

export function registerImportCommand(program: Command): void {
  const command = addCommand(program, 'import [words...]', {
    description: 'Import scanner reports from files, folders or standard input ("-").',
    notes: NOTES,
    json: false,
    examples: [
      ['assay import nuclei.jsonl zap.xml --assessment acme-web', 'Import findings of two scanners.'],
      ['assay import scan.xml --organization acme', 'Import hosts and ports.'],
      [
        'assay import zap.xml --assessment acme-web --when-gone fix',
        'Mark findings missing from the report as fixed.',
      ],
      ['assay import nuclei.jsonl --assessment acme-web --target https://shop.acme.example --dry-run', ''],
      ['assay import csv findings.csv --assessment acme-web --map title=Name --map severity=Risk', ''],
      ['assay import reports/ --watch --assessment acme-web', 'Import new reports as they appear.'],
      [
        'nmap -sV -oX - 192.0.2.0/24 | assay import nmap - --organization acme',
        'Import hosts from standard input and list them.',
      ],
      ['assay import list', 'List imports.'],
      ['assay import undo 12', 'Undo import 12.'],
    ],
  })
    .usage('[options] [format] <file|folder|->...\n       assay import [command]')
    .helpCommand('help [command]', 'Show help for a command.')
    // An option before a subcommand belongs to `import`, one after it to the subcommand.
    .enablePositionalOptions()
    .option('--assessment <uid>', 'Import findings into the assessment with this uid.')
    .option(
      '--organization <uid>',
      'Import hosts into the organization with this uid, if there is no assessment.',
    )
    .option('--dry-run', 'Preview new, known, reopened and missing findings without importing.')
    .option(
      '--when-gone <what>',
      'Keep (default) or fix findings that are missing from the report.',
      (text) => parseChoiceOption(text, ['keep', 'fix']),
    )
    .option('--target <address>', 'Name the scanned target, if the report does not (repeatable).', collect)
    .option('--scanned-at <time>', 'Give the time of the scan (ISO 8601), if the report does not contain it.')
    .option(
      '--date-order <order>',
      'Read dates such as 3/4/2024 in CSV with the day first (dmy) or the month first (mdy).',
      (text) => parseChoiceOption(text, ['dmy', 'mdy']),
    )
    .option(
      '--minimum-severity <severity>',
      `Skip findings below this severity: ${SEVERITIES.join(', ')}.`,
      (text) => parseChoiceOption(text, SEVERITIES),
    )
    .option('--tag <name>', 'Add this tag to new vulnerabilities (repeatable).', collect)
    .option('--carry', 'Carry over decisions on the same finding from other assessments.')
    .option('--draft', 'For staff: make new findings drafts. By default, the assessment decides.')
    .option('--no-draft', 'For staff: make no drafts.')
    .option('--list-assets', 'Add the assets of the report to the scope of the assessment.')
    .option('--watch', 'Import new and changed files in the folders until Ctrl-C.')
    .option('--json', 'Output JSON Lines, one line per report.');
  addMappingOptions(command);
  addTargetOptions(command);
  setInputNames(command, INPUTS);
  addImportSubcommands(command);
  command.action((words: string[], flags: ImportCommandOptions) => importReports(words, flags, command));
}

const collect = (value: string, before: string[] = []): string[] => [...before, value];

/** Maps the fields of the operation to the options that set them. */
const INPUTS = {
  assessment_id: 'assessment',
  organization_uid: 'organization',
  when_gone: 'whenGone',
  targets: 'target',
  scanned_at: 'scannedAt',
  date_order: 'dateOrder',
  minimum_severity: 'minimumSeverity',
  tags: 'tag',
  dry_run: 'dryRun',
  list_assets: 'listAssets',
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
    throw new CliError('--watch requires folders.', 2);
  const [file = ''] = files;
  if (format === 'nmap' && files.length === 1 && isLocalNmapImport(command, flags) && !isFolder(file, false))
    return importNmapHosts(file, flags, command);
  const reports =
    flags.watch === true
      ? undefined
      : await findReports(files).catch((error: unknown) => {
          const [first = '', second] = words;
          // The first word may be a misspelt format.
          if (
            second === undefined ||
            format !== undefined ||
            /[./\\]/.test(first) ||
            first === '-' ||
            existsSync(first)
          )
            throw error;
          throw new CliError(`"${first}" is neither a file nor a format. Formats: ${formats.join(', ')}.`, 2);
        });
  const mapping = parseMapping(flags);
  const { watchInterval } = loadCommandEnvironment(streams().env);
  const fields = uploadFields(flags, format, mapping);

  const interruption = new InterruptSignal();
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
        const importing = { client, fields, columns, interruption, output, command, count: reports?.length };
        await importFiles(importing, reports ?? watchFolders(files, interruption.cancel, watchInterval));
      },
      { doesImports: true },
    );
  } finally {
    interruption.close();
  }
}

/** Returns a function that asks once for each different header of a CSV report; `undefined` without a terminal. */
function createPrompts(signal: AbortSignal): ColumnMappingOptions['prompt'] {
  const { stdin, stderr } = streams();
  if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined;
  const mappings = new Map<string, Mapping>();
  return async (rows) => {
    const columns = JSON.stringify(rows[0]);
    const mapping =
      mappings.get(columns) ?? (await promptMapping({ input: stdin, output: stderr }, rows, signal));
    mappings.set(columns, mapping);
    return mapping;
  };
}

/**
 * Splits the arguments: the first word is a format if it names one.
 * @throws CliError if no file follows the format
 */
export function splitFormatAndFiles(
  words: readonly string[],
  formats: readonly string[],
): { format: string | undefined; files: readonly string[] } {
  const [first = '', ...rest] = words;
  if (!formats.includes(first)) return { format: undefined, files: words };
  if (rest.length === 0)
    throw new CliError(
      `No file given. Use "${programName()} import ${first} FILE", or ./${first} for a file with this name.`,
      2,
    );
  return { format: first, files: rest };
}

async function formatNames(): Promise<string[]> {
  const { REPORT_FORMATS } = await import('../../importers/formats/index.ts');
  return REPORT_FORMATS.map(({ name }) => name);
}

/** An nmap import on the data directory with other options than these does not list its hosts. */
const LOCAL_NMAP_OPTIONS: ReadonlySet<string> = new Set(['organization', 'data', 'json']);

function isLocalNmapImport(command: Command, flags: ImportCommandOptions): boolean {
  const setOptions = command.options
    .map((option) => option.attributeName())
    .filter((name) => command.getOptionValueSource(name) === 'cli');
  return setOptions.every((name) => LOCAL_NMAP_OPTIONS.has(name)) && resolveServer(flags) === undefined;
}

function uploadFields(
  flags: ImportCommandOptions,
  format: string | undefined,
  mapping: Readonly<Record<string, string>> | undefined,
): ImportFields {
  const request = {
    format,
    assessment_id: flags.assessment,
    organization_uid: flags.organization,
    when_gone: flags.whenGone,
    scanned_at: flags.scannedAt,
    date_order: flags.dateOrder,
    minimum_severity: flags.minimumSeverity,
    carry: flags.carry,
    draft: flags.draft,
    list_assets: flags.listAssets,
    dry_run: flags.dryRun,
    mapping: mapping && JSON.stringify(mapping),
  };
  return [
    ...Object.entries(request).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
    ...(flags.target ?? []).map((target): [string, string] => ['targets', target]),
    ...(flags.tag ?? []).map((tag): [string, string] => ['tags', tag]),
  ];
}
