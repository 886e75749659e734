import type { Command } from 'commander';
import { AssayError } from '#client';
import { type Config, ConfigError } from '../config/config.ts';
import { NoDatabase } from '../runtime/context.ts';
import { Unavailable } from '../db/engine.ts';
import { Failure, type Fault } from '../domain/shared/errors.ts';
import { NoKeysYet, WrongMasterKey } from '../domain/tokens/deployment-keys.ts';
import { ReportError } from '../importers/report.ts';
import { optionOf, typedNameOf } from './command.ts';
import { formOf } from './operation-flags.ts';

/** Why a command was not done, in one line that says what to do next. */
export class Refusal extends Error {
  override name = 'Refusal';
  /** 1 failed, 2 used wrongly. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/**
 * @param command the command that ran; its options and arguments give the faulty input its name
 * @returns what to tell about whatever a command threw
 */
export function refusalOf(error: unknown, command: Command | undefined): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ConfigError) return new Refusal(error.message, 2);
  if (error instanceof Failure && error.kind === 'invalid') {
    return new Refusal(
      error.faults
        .slice(0, 3)
        .map((fault) => tell(fault, command))
        .join('; '),
      2,
    );
  }
  if (error instanceof Failure) return new Refusal(error.message);
  if (error instanceof AssayError) {
    const told = error.faults.slice(0, 3).map((fault) => tell(fault, command));
    return new Refusal(oneLine(told.length === 0 ? error.message : told.join('; ')));
  }
  if (error instanceof Unavailable) {
    return new Refusal(`${error.message} Try again; the cause was: ${rootOf(error)}`);
  }
  if (error instanceof ReportError) {
    const { line, offset } = error.place;
    const place = line === undefined ? (offset === undefined ? '' : `byte ${offset}: `) : `line ${line}: `;
    return new Refusal(oneLine(place + error.message));
  }
  return new Refusal(oneLine(error instanceof Error ? error.message : String(error)));
}

/** @returns what to tell of an address, an id or a uid that nobody has */
export function noUser(who: string): Refusal {
  return new Refusal(`There is no user "${who}". "assay user list" shows them.`);
}

/** @returns what to tell when the data folder or the database cannot be opened */
export function openingRefusal(error: unknown, config: Config): unknown {
  if (error instanceof NoDatabase) return noDatabase(config);
  if (error instanceof WrongMasterKey) return wrongMasterKey(error, config);
  if (error instanceof NoKeysYet) {
    return new Refusal(
      'This database has no keys yet. Start the server first, which makes them, or set ASSAY_MASTER_KEY to what the server has.',
    );
  }
  const code = codeOf(error) ?? codeOf((error as Error | undefined)?.cause);
  if (config.databaseUrl !== undefined) {
    const { host, pathname, username } = new URL(config.databaseUrl);
    if (code === '28P01' || code === '28000') {
      return new Refusal(`PostgreSQL at ${host} refuses user "${username}". Check ASSAY_DATABASE_URL.`);
    }
    if (code === '3D000') {
      const name = pathname.slice(1);
      return new Refusal(
        `PostgreSQL at ${host} has no database "${name}". Create it, or check ASSAY_DATABASE_URL.`,
      );
    }
    if (error instanceof Unavailable) {
      return new Refusal(
        `PostgreSQL at ${host} does not answer (${rootOf(error)}). Check ASSAY_DATABASE_URL, and that it runs.`,
      );
    }
  }
  if (code !== undefined && /^E[A-Z]+$/.test(code)) {
    return new Refusal(
      `The data folder ${config.dataDirectory} cannot be used (${code}). Choose one with --data.`,
    );
  }
  if (error instanceof Error && /unable to open|not a database|readonly database/.test(error.message)) {
    return new Refusal(
      `The database in ${config.dataDirectory} cannot be opened (${oneLine(error.message)}). Choose a folder with --data.`,
    );
  }
  return error;
}

/** @returns what to tell when there is no database, and the command makes none */
export function noDatabase({ databaseUrl, dataDirectory }: Config): Refusal {
  if (databaseUrl === undefined)
    return new Refusal(
      `There is no database in ${dataDirectory}. Name the folder that has one with --data, or a server with --server; "assay serve" makes a new one.`,
    );
  const { host, pathname } = new URL(databaseUrl);
  return new Refusal(
    `There is nothing in the database ${host}${pathname} yet. Start the server first, or check ASSAY_DATABASE_URL.`,
  );
}

/** Names both master keys: the one that is needed, and the one that is here. */
function wrongMasterKey({ needed, found }: WrongMasterKey, config: Config): Refusal {
  const folder = `${config.dataDirectory}/keys`;
  const here =
    config.masterKey !== undefined
      ? `ASSAY_MASTER_KEY is ${found}`
      : found === undefined
        ? `${folder} has none`
        : `the one in ${folder} is ${found}`;
  return new Refusal(
    `The keys in this database are sealed with the master key ${needed}, and ${here}. ` +
      "Name the server's data folder with --data, or set ASSAY_MASTER_KEY to what the server has.",
  );
}

/** Names the option or the argument that a fault is about, as the user typed it. */
function tell({ property, message, value }: Fault, command: Command | undefined): string {
  const [name = ''] = property.split('.');
  const typed = typedNameOf(command, name) ?? property;
  if (value === undefined) {
    const option = message === 'is required' ? optionOf(command, name) : undefined;
    return `${typed} ${message}${option === undefined ? '' : formOf(option)}`;
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const quoted = `"${oneLine(text)}"`;
  return message.startsWith('must') ? `${typed} ${message}, not ${quoted}` : `${typed} ${quoted} ${message}`;
}

function rootOf(error: unknown): string {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return codeOf(root) ?? oneLine(root instanceof Error ? root.message : String(root));
}

export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  // A host with several addresses fails once for each.
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 300);
}
