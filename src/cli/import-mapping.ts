import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { unreadable } from './import-files.ts';
import { Refusal } from './refusal.ts';

/** Which of our members is which column of a CSV report. */
export type Mapping = Readonly<Record<string, string>>;

export interface MappingFlags {
  map?: Mapping;
  mapping?: string;
}

export function addMapping(command: Command): void {
  command
    .option(
      '--map <member=column>',
      'which column of a CSV report a member is: title=Name (may be given again)',
      collectPair,
    )
    .option('--mapping <file>', 'the same as a JSON file: {"title": "Name"}');
}

function collectPair(text: string, before: Mapping = {}): Mapping {
  const [, member, column] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (member === undefined || column === undefined)
    throw new InvalidArgumentError('It must be a member and a column: title=Name.');
  return { ...before, [member]: column };
}

/**
 * @returns the mapping that was given; what is on the command line wins over the file. `undefined` when there is none
 * @throws Refusal for a file that has none
 */
export function givenMapping({ map, mapping: file }: MappingFlags): Mapping | undefined {
  return file === undefined ? map : { ...readMapping(file), ...map };
}

function readMapping(file: string): Mapping {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
  let mapping: unknown;
  try {
    mapping = JSON.parse(text);
  } catch {
    throw new Refusal(`There is no JSON in ${file}.`, 2);
  }
  const isMapping =
    typeof mapping === 'object' &&
    mapping !== null &&
    !Array.isArray(mapping) &&
    Object.values(mapping).every((column) => typeof column === 'string');
  if (!isMapping) throw new Refusal(`${file} must be an object of texts: {"title": "Name"}.`, 2);
  return mapping as Mapping;
}
