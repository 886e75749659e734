import type { Command } from 'commander';
import { AssayError } from '#client';
import { type Config, ConfigError, databaseLocation } from '../config/config.ts';
import { DatabaseMissing } from '../context.ts';
import { StorageError } from '../db/database.ts';
import { IncompatibleDatabase } from '../db/migrate.ts';
import {
  describeFieldError,
  DomainError,
  type FieldError,
  type DescribedFieldError,
  isInputError,
} from '../domain/shared/errors.ts';
import { KeysMissing, MasterKeyMismatch } from '../domain/tokens/server-keys.ts';
import { ReportError } from '../importers/report.ts';
import { findOption, displayNameOf } from './command.ts';
import { exampleValueOf } from './operation-options.ts';
import { programName } from './streams.ts';

/** An error whose message is one line and says what to do next. */
export class CliError extends Error {
  override name = 'CliError';
  /** 1 for a failure, 2 for a usage error. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/**
 * Converts any error to one that can be printed.
 * @param command the command that ran; messages name its options instead of properties
 */
export function toCliError(error: unknown, command: Command | undefined): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ConfigError) return new CliError(error.message, 2);
  if (error instanceof DomainError && isInputError(error)) {
    return new CliError(
      error.fieldErrors
        .slice(0, 3)
        .map((field) => formatFieldError(describeFieldError(nameOtherInput(field, command)), command))
        .join('; '),
      2,
    );
  }
  if (error instanceof DomainError) return new CliError(error.message);
  if (error instanceof AssayError) {
    const messages = error.fieldErrors.slice(0, 3).map((field) => formatFieldError(field, command));
    return new CliError(toOneLine(messages.length === 0 ? error.message : messages.join('; ')));
  }
  if (error instanceof StorageError) {
    return new CliError(`${error.message} Try again. Cause: ${rootMessage(error)}`);
  }
  if (error instanceof ReportError) {
    const { line, offset } = error.location;
    const location = line === undefined ? (offset === undefined ? '' : `byte ${offset}: `) : `line ${line}: `;
    return new CliError(toOneLine(location + error.message));
  }
  return new CliError(toOneLine(error instanceof Error ? error.message : String(error)));
}

export function userNotFound(identifier: string): CliError {
  return new CliError(`User "${identifier}" not found. Run "${programName()} user list" to list users.`);
}

/** Converts the error of opening a database or data directory to a CliError; returns other errors unchanged. */
export function databaseOpenError(error: unknown, config: Config): unknown {
  if (error instanceof DatabaseMissing) return databaseMissing(config);
  if (error instanceof MasterKeyMismatch) return masterKeyMismatch(error, config);
  if (error instanceof KeysMissing) {
    return new CliError(
      'This database has no keys yet. Start the server once to create them, or set ASSAY_MASTER_KEY to the master key of the server.',
    );
  }
  if (error instanceof IncompatibleDatabase)
    return new CliError(`The database ${databaseLocation(config)} ${error.problem} Nothing was changed.`);
  const code = errorCodeOf(error) ?? errorCodeOf((error as Error | undefined)?.cause);
  if (config.databaseUrl !== undefined) {
    const { host, pathname, username } = new URL(config.databaseUrl);
    if (code === '28P01' || code === '28000') {
      return new CliError(`PostgreSQL at ${host} rejected user "${username}". Check ASSAY_DATABASE_URL.`);
    }
    if (code === '3D000') {
      const name = pathname.slice(1);
      return new CliError(
        `PostgreSQL at ${host} has no database "${name}". Create it, or check ASSAY_DATABASE_URL.`,
      );
    }
    if (error instanceof StorageError) {
      return new CliError(
        `Cannot connect to PostgreSQL at ${host} (${rootMessage(error)}). Check that it is running, and ASSAY_DATABASE_URL.`,
      );
    }
  }
  if (code !== undefined && /^E[A-Z]+$/.test(code)) {
    return new CliError(
      `Cannot use the data directory ${config.dataDirectory} (${code}). Choose another with --data.`,
    );
  }
  if (error instanceof Error && /unable to open|not a database|readonly database/.test(error.message)) {
    return new CliError(
      `Cannot open the database in ${config.dataDirectory} (${toOneLine(error.message)}). Choose a directory with --data.`,
    );
  }
  return error;
}

export function databaseMissing(config: Config): CliError {
  const { databaseUrl, dataDirectory } = config;
  if (databaseUrl === undefined)
    return new CliError(
      `No database found in ${dataDirectory}. Choose a data directory with --data or a server with --server, or run "${programName()} serve" to create a database.`,
    );
  return new CliError(
    `The database ${databaseLocation(config)} is empty. Start the server first, or check ASSAY_DATABASE_URL.`,
  );
}

/** Names the expected master key and the one that was found. */
function masterKeyMismatch({ expected, actual }: MasterKeyMismatch, config: Config): CliError {
  const folder = `${config.dataDirectory}/keys`;
  const resolution =
    config.masterKey !== undefined
      ? `ASSAY_MASTER_KEY is ${actual}`
      : actual === undefined
        ? `${folder} has none`
        : `the one in ${folder} is ${actual}`;
  return new CliError(
    `This database is encrypted with the master key ${expected}, but ${resolution}. ` +
      "Choose the server's data directory with --data, or set ASSAY_MASTER_KEY to the master key of the server.",
  );
}

/** Replaces the second property that an error names by its option or argument. */
function nameOtherInput(field: FieldError, command: Command | undefined): FieldError {
  if (field.params === undefined || !('other' in field.params)) return field;
  const [name = ''] = field.params.other.split('.');
  return { ...field, params: { other: displayNameOf(command, name) ?? field.params.other } } as FieldError;
}

/** Formats a field error; names the option or argument, as the user typed it, instead of the property. */
function formatFieldError(
  { property, message, value }: DescribedFieldError,
  command: Command | undefined,
): string {
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
  // A connection to a host with several addresses has one error per address.
  if (error instanceof AggregateError) return errorCodeOf(error.errors[0]);
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 300);
}
