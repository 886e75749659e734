import type { KeyObject } from 'node:crypto';
import { isAddressBlock } from '../auth/ip-addresses.ts';
import { parseMasterKey } from '../auth/master-key.ts';

/** A setting is invalid. The message names it and says what it accepts. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

// Each parser throws a `ConfigError` for a value that it does not accept.

export function parseInteger(name: string, value: string, min: number, max: number): number {
  const integer = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!(integer >= min && integer <= max)) {
    throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not "${value}".`);
  }
  return integer;
}

export function parseBoolean(name: string, value: string | undefined, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (['1', 'true', 'yes'].includes(value)) return true;
  if (['0', 'false', 'no'].includes(value)) return false;
  throw new ConfigError(`${name} must be true or false, not "${value}".`);
}

export function parseChoice<const T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const choice = allowed.find((item) => item === value);
  if (choice === undefined)
    throw new ConfigError(`${name} must be one of ${allowed.join(', ')}, not "${value}".`);
  return choice;
}

/**
 * @param forbidden by default a query and a fragment: paths are appended, and an issuer has neither (RFC 8414, section
 *   2)
 */
export function parseUrl(name: string, value: string | undefined, forbidden = /[?#]/): string | undefined {
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError(`${name} must be an http or https URL, not "${value}".`);
  }
  const [part] = forbidden.exec(value) ?? [];
  if (part !== undefined)
    throw new ConfigError(`${name} must not have a ${part === '?' ? 'query' : 'fragment'}.`);
  // The message must not repeat a password.
  if (url.username !== '' || url.password !== '')
    throw new ConfigError(`${name} must not contain a user name or a password.`);
  return value.replace(/(?<!\/)\/+$/, '');
}

export function parseDatabaseUrl(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  // The message must not repeat a password.
  if (!/^postgres(ql)?:\/\//.test(value) || URL.parse(value) === null) {
    throw new ConfigError('ASSAY_DATABASE_URL must look like postgres://user:password@host:5432/database.');
  }
  return value;
}

export function parseMasterKeySetting(name: string, value: string | undefined): KeyObject | undefined {
  if (value === undefined) return undefined;
  const key = parseMasterKey(value);
  // The message must not repeat a mistyped key.
  if (key === undefined)
    throw new ConfigError(`${name} must be 32 bytes in base64. Create one with "openssl rand -base64 32".`);
  return key;
}

export function parseSmtpUrl(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  // The message must not repeat a password.
  if (!/^smtps?:\/\//.test(value) || URL.parse(value) === null) {
    throw new ConfigError('ASSAY_SMTP_URL must look like smtp://user:password@host:587.');
  }
  return value;
}

export function parseAddressBlocks(name: string, value: string | undefined): readonly string[] {
  const blocks = parseList(value);
  const wrong = blocks.find((block) => !isAddressBlock(block));
  if (wrong !== undefined)
    throw new ConfigError(`${name} must list IP addresses or CIDR blocks, not "${wrong}".`);
  return blocks;
}

/** Splits at commas and drops empty items. */
export function parseList(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
