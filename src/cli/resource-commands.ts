import type { Command } from 'commander';
import { addCommandGroup, AssayCommand } from './command.ts';
import { findOperation } from './openapi-operations.ts';
import { endpointsOf, type Resource, RESOURCES } from './resources.ts';
import { addOperationCommand, addRemoteVariant } from './operation-commands.ts';

/**
 * Adds what the table has to the commands that there are.
 * @param first what is typed behind `assay`: of a command the others are not needed, and they are many
 */
export function registerResources(program: Command, first?: string): void {
  const known = [...Object.keys(RESOURCES), ...program.commands.map((command) => command.name())];
  // What completes words has to know all of them.
  const isAlone = first !== undefined && first !== 'completion' && known.includes(first);
  for (const [name, noun] of Object.entries(RESOURCES))
    if (!isAlone || name === first) addResource(program, name, noun);
}

function addResource(
  parent: Command,
  name: string,
  { description, commands: verbs, subresources = {} }: Resource,
): void {
  if (
    !endpointsOf({ description, commands: verbs, subresources }).some(
      (calls) => findOperation(calls) !== undefined,
    )
  )
    return;
  const family =
    parent.commands.find((command) => command.name() === name) ?? addCommandGroup(parent, name, description);
  for (const [word, verb] of Object.entries(verbs)) {
    const { endpoint, ...rest } = typeof verb === 'string' ? { endpoint: verb } : verb;
    const operation = findOperation(endpoint);
    if (operation === undefined) continue;
    const existing = family.commands.find((command) => command.name() === word);
    if (existing instanceof AssayCommand) addRemoteVariant(existing, { endpoint, ...rest }, operation);
    else addOperationCommand(family, word, { endpoint, ...rest }, operation);
  }
  for (const [word, one] of Object.entries(subresources)) addResource(family, word, one);
}
