import type { Command } from 'commander';
import { AssayError } from '#client';
import { type Config, ConfigError } from '../config/config.ts';
import { DatabaseMissing } from '../runtime/context.ts';
import { StorageError } from '../db/engine.ts';
import { DomainError, type FieldError } from '../domain/shared/errors.ts';
import { KeysMissing, MasterKeyMismatch } from '../domain/tokens/deployment-keys.ts';
import { ReportError } from '../importers/report.ts';
import { findOption, displayNameOf } from './command.ts';
import { exampleValueOf } from './operation-options.ts';

/** Why a command was not done, in one line that says what to do next. */
export class CliError extends Error {
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
export function toCliError(error: unknown, command: Command | undefined): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ConfigError) return new CliError(error.message, 2);
  if (error instanceof DomainError && error.kind === 'invalid') {
    return new CliError(
      error.fieldErrors
        .slice(0, 3)
        .map((fault) => formatFieldError(fault, command))
        .join('; '),
      2,
    );
  }
  if (error instanceof DomainError) return new CliError(error.message);
  if (error instanceof AssayError) {
    const told = error.fieldErrors.slice(0, 3).map((fault) => formatFieldError(fault, command));
    return new CliError(toOneLine(told.length === 0 ? error.message : told.join('; ')));
  }
  if (error instanceof StorageError) {
    return new CliError(`${error.message} Try again; the cause was: ${rootMessage(error)}`);
  }
  if (error instanceof ReportError) {
    const { line, offset } = error.location;
    const place = line === undefined ? (offset === undefined ? '' : `byte ${offset}: `) : `line ${line}: `;
    return new CliError(toOneLine(place + error.message));
  }
  return new CliError(toOneLine(error instanceof Error ? error.message : String(error)));
}

/** @returns what to tell of an address, an id or a uid that nobody has */
export function userNotFound(who: string): CliError {
  return new CliError(`There is no user "${who}". "assay user list" shows them.`);
}

/** @returns what to tell when the data folder or the database cannot be opened */
export function databaseOpenError(error: unknown, config: Config): unknown {
  if (error instanceof DatabaseMissing) return databaseMissing(config);
  if (error instanceof MasterKeyMismatch) return masterKeyMismatch(error, config);
  if (error instanceof KeysMissing) {
    return new CliError(
      'This database has no keys yet. Start the server first, which makes them, or set ASSAY_MASTER_KEY to what the server has.',
    );
  }
  const code = errorCodeOf(error) ?? errorCodeOf((error as Error | undefined)?.cause);
  if (config.databaseUrl !== undefined) {
    const { host, pathname, username } = new URL(config.databaseUrl);
    if (code === '28P01' || code === '28000') {
      return new CliError(`PostgreSQL at ${host} refuses user "${username}". Check ASSAY_DATABASE_URL.`);
    }
    if (code === '3D000') {
      const name = pathname.slice(1);
      return new CliError(
        `PostgreSQL at ${host} has no database "${name}". Create it, or check ASSAY_DATABASE_URL.`,
      );
    }
    if (error instanceof StorageError) {
      return new CliError(
        `PostgreSQL at ${host} does not answer (${rootMessage(error)}). Check ASSAY_DATABASE_URL, and that it runs.`,
      );
    }
  }
  if (code !== undefined && /^E[A-Z]+$/.test(code)) {
    return new CliError(
      `The data folder ${config.dataDirectory} cannot be used (${code}). Choose one with --data.`,
    );
  }
  if (error instanceof Error && /unable to open|not a database|readonly database/.test(error.message)) {
    return new CliError(
      `The database in ${config.dataDirectory} cannot be opened (${toOneLine(error.message)}). Choose a folder with --data.`,
    );
  }
  return error;
}

/** @returns what to tell when there is no database, and the command makes none */
export function databaseMissing({ databaseUrl, dataDirectory }: Config): CliError {
  if (databaseUrl === undefined)
    return new CliError(
      `There is no database in ${dataDirectory}. Name the folder that has one with --data, or a server with --server; "assay serve" makes a new one.`,
    );
  const { host, pathname } = new URL(databaseUrl);
  return new CliError(
    `There is nothing in the database ${host}${pathname} yet. Start the server first, or check ASSAY_DATABASE_URL.`,
  );
}

/** Names both master keys: the one that is needed, and the one that is here. */
function masterKeyMismatch({ expected, found }: MasterKeyMismatch, config: Config): CliError {
  const folder = `${config.dataDirectory}/keys`;
  const here =
    config.masterKey !== undefined
      ? `ASSAY_MASTER_KEY is ${found}`
      : found === undefined
        ? `${folder} has none`
        : `the one in ${folder} is ${found}`;
  return new CliError(
    `The keys in this database are sealed with the master key ${expected}, and ${here}. ` +
      "Name the server's data folder with --data, or set ASSAY_MASTER_KEY to what the server has.",
  );
}

/** Names the option or the argument that a fault is about, as the user typed it. */
function formatFieldError({ property, message, value }: FieldError, command: Command | undefined): string {
  const [name = ''] = property.split('.');
  const typed = displayNameOf(command, name) ?? property;
  if (value === undefined) {
    const option = message === 'is required' ? findOption(command, name) : undefined;
    return `${typed} ${message}${option === undefined ? '' : exampleValueOf(option)}`;
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const quoted = `"${toOneLine(text)}"`;
  return message.startsWith('must') ? `${typed} ${message}, not ${quoted}` : `${typed} ${quoted} ${message}`;
}

function rootMessage(error: unknown): string {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return errorCodeOf(root) ?? toOneLine(root instanceof Error ? root.message : String(root));
}

export function errorCodeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  // A host with several addresses fails once for each.
  if (error instanceof AggregateError) return errorCodeOf(error.errors[0]);
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 300);
}
