import type { Command } from 'commander';
import { addCommandGroup, AssayCommand } from './command.ts';
import { findOperation } from './openapi-operations.ts';
import { endpointsOf, type Resource, RESOURCES } from './resources.ts';
import { addOperationCommand, addRemoteVariant } from './operation-commands.ts';

/**
 * Adds the commands of `RESOURCES`.
 * @param first the word after `assay`; only its commands are added, since all of them take long
 */
export function registerResources(program: Command, first?: string): void {
  const known = [...Object.keys(RESOURCES), ...program.commands.map((command) => command.name())];
  // Completion needs all commands.
  const isAlone = first !== undefined && first !== 'completion' && known.includes(first);
  for (const [name, resource] of Object.entries(RESOURCES))
    if (!isAlone || name === first) addResource(program, name, resource);
}

function addResource(
  parent: Command,
  name: string,
  { description, commands, subresources = {} }: Resource,
): void {
  if (
    !endpointsOf({ description, commands, subresources }).some(
      (endpoint) => findOperation(endpoint) !== undefined,
    )
  )
    return;
  const family =
    parent.commands.find((command) => command.name() === name) ?? addCommandGroup(parent, name, description);
  for (const [word, entry] of Object.entries(commands)) {
    const { endpoint, ...rest } = typeof entry === 'string' ? { endpoint: entry } : entry;
    const operation = findOperation(endpoint);
    if (operation === undefined) continue;
    const existing = family.commands.find((command) => command.name() === word);
    if (existing instanceof AssayCommand) addRemoteVariant(existing, { endpoint, ...rest }, operation);
    else addOperationCommand(family, word, { endpoint, ...rest }, operation);
  }
  for (const [word, one] of Object.entries(subresources)) addResource(family, word, one);
}
