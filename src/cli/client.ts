import { type Command, Option } from 'commander';
import { cliChangeContext } from '../auth/callers.ts';
import { DomainError } from '../domain/shared/errors.ts';
import {
  createOAuthClient,
  deleteOAuthClient,
  listOAuthClients,
  renewClientSecret,
  requireOAuthClient,
  setImplicit,
} from '../domain/tokens/oauth-clients.ts';
import { findUser } from '../domain/users/user-list.ts';
import { addCommand, addCommandGroup, type CommonOptions, scopesOption } from './command.ts';
import { withContext } from './with-context.ts';
import { keyValueLines, printJson, printLines, table } from './print.ts';
import { CliError } from './errors.ts';
import { requireUser } from './user.ts';
import { programName } from './streams.ts';

interface CreateOptions extends CommonOptions {
  name: string;
  redirect?: string[];
  public?: boolean;
  confidential?: boolean;
  implicit?: boolean;
  scopes?: string[];
  user?: string;
}

interface UpdateOptions extends CommonOptions {
  implicit?: boolean;
  newSecret?: boolean;
}

const SECRET_NOTICE = 'Copy the secret now. It cannot be shown again.';

export function registerClientCommand(program: Command): void {
  const group = addCommandGroup(program, 'client', 'Manage OAuth 2.0 applications.');
  addCreateCommand(group);
  addListCommand(group);
  addUpdateCommand(group);
  addDeleteCommand(group);
}

function addCreateCommand(group: Command): void {
  addCommand(group, 'create', {
    inputs: { redirectUris: 'redirect', userId: 'user' },
    description: 'Register an application.',
    notes:
      'A public client cannot keep a secret: a browser, desktop or mobile application. A confidential client runs on a\n' +
      'server. Both use /oauth/authorize with PKCE. Redirect URIs must match exactly, except for the port on 127.0.0.1,\n' +
      '[::1] and localhost. With --user, a confidential client can use the client credentials grant to act as that user.\n' +
      'The implicit flow is less secure and disabled by default. The secret is shown only once.',
    examples: [
      [
        'assay client create --name "Triage board" --redirect https://board.example/callback',
        'Register a browser application.',
      ],
      [
        'assay client create --name "Desk tool" --redirect http://127.0.0.1/callback',
        'Register a desktop application that listens on any port.',
      ],
      [
        'assay client create --name "Nightly sync" --confidential --user sync@example.com --scopes "api asset_lr"',
        'Register a script that acts as sync@example.com.',
      ],
    ],
  })
    .requiredOption('--name <name>', 'Show this name to users who authorize access.')
    .option('--redirect <uri...>', 'Allow these redirect URIs: https, http on localhost, or a custom scheme.')
    .addOption(new Option('--public', 'Register a public client (default).').conflicts('confidential'))
    .option('--confidential', 'Register a confidential client, which has a secret.')
    .option('--implicit', 'Allow the implicit flow, for legacy applications.')
    .option('--no-implicit', 'Disallow the implicit flow (default).')
    .addOption(scopesOption('Limit the scopes to these (default: those of its users).'))
    .option('--user <user>', 'Act as this user with client credentials: an email address, id or uid.')
    .action(
      ({
        name,
        redirect = [],
        confidential,
        implicit,
        scopes,
        user,
        json,
        public: _default,
        ...flags
      }: CreateOptions) =>
        withContext(
          flags,
          async ({ db, clock }) => {
            const account = user === undefined ? null : await requireUser(db.read, user);
            if (account?.banned === true)
              throw new CliError(`${account.email} is banned, so an application cannot act as this user.`);
            const kind = confidential === true ? 'confidential' : 'public';
            const input = {
              name,
              kind,
              redirectUris: redirect,
              implicit: implicit === true,
              scopes,
              userId: account?.id ?? null,
            } as const;
            const { id, secret } = await db.write((tx) =>
              createOAuthClient(tx, cliChangeContext(clock()), input),
            );
            const output = { client_id: id, ...(secret === null ? {} : { client_secret: secret }) };
            if (json === true) return printJson(output);
            printLines(...keyValueLines(output), ...(secret === null ? [] : [SECRET_NOTICE]));
          },
          { createsDatabase: true },
        ),
    );
}

function addListCommand(group: Command): void {
  addCommand(group, 'list', {
    description: 'List applications.',
    examples: [['assay client list']],
  }).action(({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db }) => {
      const clients = [];
      for (const client of await listOAuthClients(db.read)) {
        const account = client.userId === null ? undefined : await findUser(db.read, { id: client.userId });
        clients.push({
          client_id: client.id,
          name: client.name,
          kind: client.kind,
          redirect_uris: client.redirectUris,
          implicit: client.implicit,
          scopes: client.scopes,
          user: account?.email ?? null,
          // Built-in clients have no date.
          created_at: client.createdAt === 0 ? null : new Date(client.createdAt).toISOString(),
        });
      }
      if (json === true) return printJson(clients);
      printLines(
        ...table(
          clients,
          {
            ID: (row) => row.client_id,
            NAME: (row) => row.name,
            KIND: (row) => row.kind,
            IMPLICIT: (row) => row.implicit,
            SCOPES: (row) => row.scopes?.join(' ') ?? 'all',
            'ACTS AS': (row) => row.user,
            REDIRECTS: (row) => row.redirect_uris.join(' '),
          },
          `No applications yet. Run "${programName()} client create" to register one.`,
        ),
      );
    }),
  );
}

function addUpdateCommand(group: Command): void {
  addCommand(group, 'update <id>', {
    inputs: { kind: 'newSecret' },
    description: 'Update an application, or renew its secret.',
    examples: [
      ['assay client update assay-docs --no-implicit', 'Disallow the implicit flow.'],
      ['assay client update 2FqkD0s9Yb6TnWc4Vx8L --new-secret', 'Replace the secret at once.'],
    ],
  })
    .option('--implicit', 'Allow the implicit flow.')
    .option('--no-implicit', 'Disallow the implicit flow.')
    .option('--new-secret', 'Renew the secret of a confidential client.')
    .action((id: string, { implicit, newSecret, json, ...flags }: UpdateOptions) => {
      if (implicit === undefined && newSecret !== true)
        throw new CliError('Specify --implicit, --no-implicit or --new-secret.', 2);
      return withContext(flags, async ({ db, clock }) => {
        const secret = await db
          .write(async (tx) => {
            if (implicit !== undefined) await setImplicit(tx, cliChangeContext(clock()), id, implicit);
            return newSecret === true ? renewClientSecret(tx, cliChangeContext(clock()), id) : null;
          })
          .catch((error: unknown) => rethrowNotFound(error, id));
        const client = await requireOAuthClient(db.read, id);
        const output = {
          client_id: id,
          implicit: client.implicit,
          ...(secret === null ? {} : { client_secret: secret }),
        };
        if (json === true) return printJson(output);
        printLines(...keyValueLines(output), ...(secret === null ? [] : [SECRET_NOTICE]));
      });
    });
}

function addDeleteCommand(group: Command): void {
  addCommand(group, 'delete <id>', {
    description: 'Delete an application and revoke its tokens.',
    examples: [['assay client delete 2FqkD0s9Yb6TnWc4Vx8L']],
  }).action((id: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      await db
        .write((tx) => deleteOAuthClient(tx, cliChangeContext(clock()), id))
        .catch((error: unknown) => rethrowNotFound(error, id));
      if (json === true) return printJson({ client_id: id, deleted: true });
      printLines(`Deleted application ${id} and revoked its tokens.`);
    }),
  );
}

function rethrowNotFound(error: unknown, id: string): never {
  if (error instanceof DomainError && error.kind === 'not-found')
    throw new CliError(
      `Application "${id}" not found. Run "${programName()} client list" to list applications.`,
    );
  throw error;
}
