import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { unreadableFile } from './report-files.ts';
import { CliError } from '../errors.ts';

/** Which of our members is which column of a CSV report. */
export type Mapping = Readonly<Record<string, string>>;

export interface MappingFlags {
  map?: Mapping;
  mapping?: string;
}

export function addMappingOptions(command: Command): void {
  command
    .option(
      '--map <member=column>',
      'which column of a CSV report a member is: title=Name (may be given again)',
      collectMapping,
    )
    .option('--mapping <file>', 'the same as a JSON file: {"title": "Name"}');
}

function collectMapping(text: string, before: Mapping = {}): Mapping {
  const [, member, column] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (member === undefined || column === undefined)
    throw new InvalidArgumentError('It must be a member and a column: title=Name.');
  return { ...before, [member]: column };
}

/**
 * @returns the mapping that was given; what is on the command line wins over the file. `undefined` when there is none
 * @throws Refusal for a file that has none
 */
export function readGivenMapping({ map, mapping: file }: MappingFlags): Mapping | undefined {
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
    throw new CliError(`There is no JSON in ${file}.`, 2);
  }
  const isMapping =
    typeof mapping === 'object' &&
    mapping !== null &&
    !Array.isArray(mapping) &&
    Object.values(mapping).every((column) => typeof column === 'string');
  if (!isMapping) throw new CliError(`${file} must be an object of texts: {"title": "Name"}.`, 2);
  return mapping as Mapping;
}
