import { InvalidArgumentError, Option } from 'commander';
import { cliChangeContext } from '../auth/callers.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { listTokens } from '../domain/tokens/token-list.ts';
import { issueToken, revokeToken } from '../domain/tokens/tokens.ts';
import { type CommonOptions, type LocalCommand, scopesOption } from './command.ts';
import { programName, streams } from './streams.ts';
import { withContext } from './with-context.ts';
import { keyValueLines, printJson, printLines, table } from './print.ts';
import { CliError } from './errors.ts';
import { requireUser } from './user.ts';

interface CreateOptions extends CommonOptions {
  user: string;
  name?: string;
  scopes?: string[];
  /** Milliseconds. */
  expires?: number;
  allowIp?: string[];
  jwt?: boolean;
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const JWT_LIFETIME = UNITS.h;
const MAX_LIFETIME = 3_650 * UNITS.d;
/** Characters; longer than any token or id. */
const MAX_LINE = 4_096;

export const createTokenCommand: LocalCommand = {
  usage: 'create',
  inputs: { allowedAddresses: 'allowIp' },
  description: 'Create a token for a user.',
  notes:
    'A personal access token is a bearer token. On /v1 it also works as X-Auth, and as the password of the email address\n' +
    "with basic authentication. The token is shown only once. The user's invitation stays valid.",
  examples: [
    ['assay token create --user ada@example.com', 'Grant all scopes of the account, without expiry.'],
    [
      'assay token create --user ada@example.com --scopes "api tag_lw" --expires 30d',
      'Grant two scopes for 30 days.',
    ],
    [
      'assay token create --user ada@example.com --allow-ip 10.0.0.0/8',
      'Accept the token from this network only.',
    ],
    [
      'assay token create --user ada@example.com --jwt --json',
      'Create a JWT access token that is valid for one hour.',
    ],
  ],
  addOptions: (command) => {
    command
      .requiredOption('--user <user>', 'Select the user by email address, id or uid.')
      .option('--name <text>', 'Set the name of the token; required with --server.')
      .addOption(
        scopesOption('Grant these scopes, separated by spaces (default: all that the account may have).'),
      )
      .addOption(
        new Option(
          '--expires <time>',
          'Set the lifetime, such as 90s, 15m, 1h or 30d (default: no expiry; one hour for a JWT).',
        ).argParser(parseLifetime),
      )
      .option(
        '--allow-ip <cidr...>',
        'Accept the token from these IP addresses or CIDR blocks only (default: all).',
      )
      .option('--jwt', 'Create a JWT access token instead of a personal access token.');
  },
  run: ({ user, name, scopes, expires, allowIp, jwt, json, ...flags }: CreateOptions) =>
    withContext(flags, async ({ db, keys, clock }) => {
      const { id: userId, email, banned } = await requireUser(db.read, user);
      if (banned) throw new CliError(`${email} is banned and cannot have tokens.`);
      const kind = jwt === true ? 'jwt' : 'personal';
      const lifetime = expires ?? (kind === 'jwt' ? JWT_LIFETIME : undefined);
      const now = clock();
      const expiresAt = lifetime === undefined ? null : now + lifetime;
      const issued = await db.write((tx) =>
        issueToken(tx, cliChangeContext(now), keys, {
          userId,
          kind,
          ...(name === undefined ? {} : { name }),
          scopes,
          expiresAt,
          allowedAddresses: allowIp,
        }),
      );
      const output = { id: issued.id, token: issued.token, expires_at: formatDate(issued.expiresAt) };
      if (json === true) return printJson(output);
      printLines(
        ...keyValueLines({ id: output.id, token: output.token, expires: output.expires_at ?? 'never' }),
        'Copy the token now. It cannot be shown again.',
      );
    }),
};

export const listTokensCommand: LocalCommand = {
  usage: 'list',
  description: 'List tokens.',
  examples: [['assay token list']],
  run: ({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db }) => {
      const tokens = (await listTokens(db.read)).map((token) => ({
        id: token.id,
        name: token.name,
        kind: token.kind,
        user: token.email,
        scopes: token.scopes.join(' '),
        allowed_addresses: token.allowedAddresses,
        created_at: formatDate(token.createdAt),
        expires_at: formatDate(token.expiresAt),
        revoked_at: formatDate(token.revokedAt),
        last_used_at: formatDate(token.lastUsedAt),
        last_used_from: token.lastUsedFrom,
        made_by: token.createdBy,
      }));
      if (json === true) return printJson(tokens);
      printLines(
        ...table(
          tokens,
          {
            ID: (row) => row.id,
            NAME: (row) => row.name,
            KIND: (row) => row.kind,
            USER: (row) => row.user,
            EXPIRES: (row) => row.expires_at ?? 'never',
            REVOKED: (row) => row.revoked_at,
            'LAST USED': (row) => row.last_used_at,
            SCOPES: (row) => row.scopes,
          },
          `No tokens yet. Run "${programName()} token create" to create one.`,
        ),
      );
    }),
};

export const revokeTokenCommand: LocalCommand = {
  usage: 'revoke <token>',
  description: 'Revoke a token.',
  notes:
    'TOKEN is an id or a personal access token. "-" reads it from standard input, so that the token does not appear in\n' +
    'process listings or the shell history. Revoking a revoked token changes nothing.',
  examples: [
    ['assay token revoke 3f0c6a52-7b1e-4a55-9a61-0a1f2b3c4d5e'],
    ['assay token revoke - < leaked-token.txt', 'Revoke a leaked token.'],
  ],
  run: async (tokenId: string, { json, ...flags }: CommonOptions) => {
    const token = tokenId === '-' ? await readLineFromStdin() : tokenId;
    await withContext(flags, async ({ db, clock }) => {
      const { id } = await db
        .write((tx) => revokeToken(tx, cliChangeContext(clock()), token))
        .catch((error: unknown) => {
          if (error instanceof DomainError && error.kind === 'not-found') {
            throw new CliError(`Token not found. Run "${programName()} token list" to list tokens.`);
          }
          throw error;
        });
      if (json === true) return printJson({ id, revoked: true });
      printLines(`Revoked token ${id}.`);
    });
  },
};

/** @throws CliError if the first line is empty */
async function readLineFromStdin(): Promise<string> {
  let text = '';
  for await (const chunk of streams().stdin.setEncoding('utf8')) {
    text += chunk as string;
    if (text.includes('\n') || text.length > MAX_LINE) break;
  }
  const [line = ''] = text.split('\n');
  if (line.trim() === '') throw new CliError('Standard input contains no token.', 2);
  return line.trim();
}

function parseLifetime(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const lifetime = Number(count) * UNITS[unit as keyof typeof UNITS];
  if (!(lifetime > 0 && lifetime <= MAX_LIFETIME)) {
    throw new InvalidArgumentError(
      'The value must be a duration such as 90s, 15m, 1h or 30d, at most 3650d.',
    );
  }
  return lifetime;
}

function formatDate(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
