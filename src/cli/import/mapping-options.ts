import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { unreadableFile } from './report-files.ts';
import { CliError } from '../errors.ts';

/** Maps fields of a finding to columns of a CSV report. */
export type Mapping = Readonly<Record<string, string>>;

export interface MappingFlags {
  map?: Mapping;
  mapping?: string;
}

export function addMappingOptions(command: Command): void {
  command
    .option(
      '--map <field=column>',
      'Map a field to a column of a CSV report, such as title=Name (repeatable).',
      collectMapping,
    )
    .option('--mapping <file>', 'Read the mapping from a JSON file such as {"title": "Name"}.');
}

function collectMapping(text: string, before: Mapping = {}): Mapping {
  const [, field, column] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (field === undefined || column === undefined)
    throw new InvalidArgumentError('The value must be a field and a column: title=Name.');
  return { ...before, [field]: column };
}

/**
 * Returns the mapping of the options; `undefined` if there is none. `--map` takes precedence over the file.
 * @throws CliError if the file is invalid
 */
export function parseMapping({ map, mapping: file }: MappingFlags): Mapping | undefined {
  return file === undefined ? map : { ...readMappingFile(file), ...map };
}

function readMappingFile(file: string): Mapping {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadableFile(file, error);
  }
  let mapping: unknown;
  try {
    mapping = JSON.parse(text);
  } catch {
    throw new CliError(`${file} is not valid JSON.`, 2);
  }
  const isMapping =
    typeof mapping === 'object' &&
    mapping !== null &&
    !Array.isArray(mapping) &&
    Object.values(mapping).every((column) => typeof column === 'string');
  if (!isMapping)
    throw new CliError(`${file} must be a JSON object of strings, such as {"title": "Name"}.`, 2);
  return mapping as Mapping;
}
