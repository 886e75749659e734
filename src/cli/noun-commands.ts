import type { Command } from 'commander';
import { addFamily, AssayCommand } from './command.ts';
import { operationOf } from './description.ts';
import { callsOf, type Noun, NOUNS } from './nouns.ts';
import { addOperation, addTwin } from './operation-command.ts';

/**
 * Adds what the table has to the commands that there are.
 * @param first what is typed behind `assay`: of a command the others are not needed, and they are many
 */
export function registerNouns(program: Command, first?: string): void {
  const known = [...Object.keys(NOUNS), ...program.commands.map((command) => command.name())];
  // What completes words has to know all of them.
  const isAlone = first !== undefined && first !== 'completion' && known.includes(first);
  for (const [name, noun] of Object.entries(NOUNS))
    if (!isAlone || name === first) addNoun(program, name, noun);
}

function addNoun(parent: Command, name: string, { description, verbs, nouns = {} }: Noun): void {
  if (!callsOf({ description, verbs, nouns }).some((calls) => operationOf(calls) !== undefined)) return;
  const family =
    parent.commands.find((command) => command.name() === name) ?? addFamily(parent, name, description);
  for (const [word, verb] of Object.entries(verbs)) {
    const { calls, ...rest } = typeof verb === 'string' ? { calls: verb } : verb;
    const operation = operationOf(calls);
    if (operation === undefined) continue;
    const existing = family.commands.find((command) => command.name() === word);
    if (existing instanceof AssayCommand) addTwin(existing, { calls, ...rest }, operation);
    else addOperation(family, word, { calls, ...rest }, operation);
  }
  for (const [word, one] of Object.entries(nouns)) addNoun(family, word, one);
}
