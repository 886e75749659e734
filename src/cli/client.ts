import { type Command, Option } from 'commander';
import { cliAttribution } from '../auth/callers.ts';
import { DomainError } from '../domain/shared/errors.ts';
import {
  createClient,
  deleteClient,
  listClients,
  renewClientSecret,
  requireClient,
  setImplicit,
} from '../domain/tokens/oauth-clients.ts';
import { userById } from '../domain/users/users.ts';
import { addCommand, addCommandGroup, type CommonOptions, scopesOption } from './command.ts';
import { withContext } from './with-context.ts';
import { keyValueLines, printJson, printLines, table } from './print.ts';
import { CliError } from './errors.ts';
import { requireUser } from './user.ts';

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

const KEEP_SECRET = 'Keep the secret now: it is not stored, and cannot be shown again.';

export function registerClientCommand(program: Command): void {
  const family = addCommandGroup(program, 'client', 'Applications that ask for access tokens (OAuth 2.0)');

  addCommand(family, 'create', {
    inputs: { redirectUris: 'redirect', userId: 'user' },
    description: 'Register an application, and print its id and, once, its secret',
    notes:
      'A public client keeps no secret: an application in a browser or on a device. A confidential one runs on a server\n' +
      'of its own. Both send people to /oauth/authorize, with PKCE, and get an answer at exactly the addresses that are\n' +
      'registered; on 127.0.0.1, [::1] and localhost the port may vary. With --user, a confidential client gets tokens\n' +
      'of that account with its secret alone. The implicit flow is off unless asked for, as it is less safe.',
    examples: [
      [
        'assay client create --name "Triage board" --redirect https://board.example/callback',
        'an application in a browser',
      ],
      [
        'assay client create --name "Desk tool" --redirect http://127.0.0.1/callback',
        'one on a device, at any port',
      ],
      [
        'assay client create --name "Nightly sync" --confidential --user sync@example.com --scopes "api asset_lr"',
        'a script, which acts as sync@example.com, and no more than that',
      ],
    ],
  })
    .requiredOption('--name <name>', 'what people read when it asks them for access')
    .option(
      '--redirect <uri...>',
      'where it is answered: https, http on this machine, or a scheme of its own',
    )
    .addOption(new Option('--public', 'it keeps no secret (the default)').conflicts('confidential'))
    .option('--confidential', 'it gets a secret')
    .option('--implicit', 'let it use the implicit flow, for applications that know no other')
    .option('--no-implicit', 'do not (the default)')
    .addOption(scopesOption('the most that it can be given; what its users may hold unless told'))
    .option('--user <user>', 'the account that it acts as on its own: an e-mail address, an id or a uid')
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
              throw new CliError(`${account.email} is banned, so no application can act as them.`);
            const kind = confidential === true ? 'confidential' : 'public';
            const input = {
              name,
              kind,
              redirectUris: redirect,
              implicit: implicit === true,
              scopes,
              userId: account?.id ?? null,
            } as const;
            const { id, secret } = await db.write((tx) => createClient(tx, cliAttribution(clock()), input));
            const shown = { client_id: id, ...(secret === null ? {} : { client_secret: secret }) };
            if (json === true) return printJson(shown);
            printLines(...keyValueLines(shown), ...(secret === null ? [] : [KEEP_SECRET]));
          },
          { makesDatabase: true },
        ),
    );

  addCommand(family, 'list', {
    description: 'List the applications, without their secrets',
    examples: [['assay client list']],
  }).action(({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db }) => {
      const clients = [];
      for (const client of await listClients(db.read)) {
        const account = client.userId === null ? undefined : await userById(db.read, client.userId);
        clients.push({
          client_id: client.id,
          name: client.name,
          kind: client.kind,
          redirect_uris: client.redirectUris,
          implicit: client.implicit,
          scopes: client.scopes,
          user: account?.email ?? null,
          // Those of the API description and of the command line came with the database.
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
          'There is no application. "assay client create" registers one.',
        ),
      );
    }),
  );

  addCommand(family, 'update <id>', {
    inputs: { kind: 'newSecret' },
    description: 'Change what an application may do, or give it another secret',
    examples: [
      ['assay client update assay-docs --no-implicit', 'no implicit flow for it from now on'],
      ['assay client update 2FqkD0s9Yb6TnWc4Vx8L --new-secret', 'the old one ends at once'],
    ],
  })
    .option('--implicit', 'let it use the implicit flow')
    .option('--no-implicit', 'do not')
    .option('--new-secret', 'for a confidential client')
    .action((id: string, { implicit, newSecret, json, ...flags }: UpdateOptions) => {
      if (implicit === undefined && newSecret !== true)
        throw new CliError('Say what to change: --implicit, --no-implicit or --new-secret.', 2);
      return withContext(flags, async ({ db, clock }) => {
        const secret = await db
          .write(async (tx) => {
            if (implicit !== undefined) await setImplicit(tx, cliAttribution(clock()), id, implicit);
            return newSecret === true ? renewClientSecret(tx, cliAttribution(clock()), id) : null;
          })
          .catch((error: unknown) => throwUnknown(error, id));
        const client = await requireClient(db.read, id);
        const shown = {
          client_id: id,
          implicit: client.implicit,
          ...(secret === null ? {} : { client_secret: secret }),
        };
        if (json === true) return printJson(shown);
        printLines(...keyValueLines(shown), ...(secret === null ? [] : [KEEP_SECRET]));
      });
    });

  addCommand(family, 'delete <id>', {
    description: 'Delete an application, which ends its tokens at once',
    examples: [['assay client delete 2FqkD0s9Yb6TnWc4Vx8L']],
  }).action((id: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      await db
        .write((tx) => deleteClient(tx, cliAttribution(clock()), id))
        .catch((error: unknown) => throwUnknown(error, id));
      if (json === true) return printJson({ client_id: id, deleted: true });
      printLines(`Application ${id} is deleted, and its tokens ended.`);
    }),
  );
}

function throwUnknown(error: unknown, id: string): never {
  if (error instanceof DomainError && error.kind === 'missing')
    throw new CliError(`There is no application "${id}". "assay client list" shows their ids.`);
  throw error;
}
