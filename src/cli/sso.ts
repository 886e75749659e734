import { createReadStream } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { isPlainText } from '../auth/plain-text.ts';
import { cliAttribution } from '../auth/callers.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { unlinkIdentities } from '../domain/sign-in/sign-in-with-provider.ts';
import {
  listIdentityProviders,
  type ListedProvider,
  providerByOrganization,
  removeIdentityProvider,
  setIdentityProvider,
} from '../domain/sign-in/identity-providers.ts';
import { callbackUrl, sealClientSecret } from '../sso/registration.ts';
import { addCommand, addCommandGroup, type CommonOptions } from './command.ts';
import { streams } from './streams.ts';
import { withContext } from './with-context.ts';
import { requireOrganization } from './organization.ts';
import { keyValueLines, printJson, printLines } from './print.ts';
import { errorCodeOf, CliError } from './errors.ts';
import { requireUser } from './user.ts';

interface SetOptions extends CommonOptions {
  organization: string;
  issuer: string;
  clientId: string;
  clientSecretFile?: string;
  domain: string[];
  groupsClaim: string;
  adminGroup?: string;
  group?: { group: string; assessment: string }[];
  ssoOnly?: boolean;
}

const MAX_SECRET = 4_096;

export function registerSsoCommand(program: Command): void {
  const family = addCommandGroup(
    program,
    'sso',
    'Single sign-on through the OpenID Connect provider of an organization',
  );

  addCommand(family, 'set', {
    inputs: { domains: 'domain', groups: 'group' },
    description: 'Name the provider of an organization; what was named before is replaced',
    notes:
      'People whose verified e-mail address is of one of the domains then sign in there, and get an account when they\n' +
      'have none. The secret is read from a file, or from standard input as "-", so that no list of processes shows it.\n' +
      'Without one, the secret that is stored for this issuer and client stays; where none is, the client is public.\n' +
      'The redirect address that it prints is to be registered at the provider; it begins with ASSAY_CLIENT_BASE_URL.',
    examples: [
      [
        'assay sso set --organization acme --issuer https://login.acme.example --client-id assay \\\n' +
          '      --client-secret-file secret.txt --domain acme.example',
      ],
      [
        'assay sso set --organization acme --issuer https://login.acme.example --client-id assay \\\n' +
          '      --domain acme.example --admin-group security-leads --group web-team=acme-shop --sso-only',
        'admins and access by groups, and no passwords',
      ],
    ],
  })
    .requiredOption('--organization <uid>', 'whose provider it is')
    .requiredOption('--issuer <url>', 'its issuer, an https address')
    .requiredOption('--client-id <id>', 'what the provider calls this server')
    .option('--client-secret-file <file>', 'where the client secret is; "-" for standard input')
    .requiredOption('--domain <domain...>', 'the domains of the e-mail addresses that sign in there')
    .option('--groups-claim <claim>', 'the claim that lists groups', 'groups')
    .option('--admin-group <name>', 'who is in it is an admin, and nobody else')
    .addOption(
      new Option(
        '--group <name=assessment...>',
        'who is in the group has access to the assessment',
      ).argParser(parseGroupMapping),
    )
    .option('--sso-only', 'refuse passwords and passkeys of this organization’s users')
    .action(({ json, ...options }: SetOptions) =>
      withContext(options, async ({ db, keys, addresses, clock }) => {
        const { organization, clientId, clientSecretFile, domain, groupsClaim, adminGroup, group } = options;
        await requireOrganization(db.read, organization);
        const issuer = await checkIssuer(options.issuer, clientId);
        const before = await providerByOrganization(db.read, organization);
        const kept = before?.issuer === issuer && before.clientId === clientId ? before.sealedSecret : null;
        const sealedSecret =
          clientSecretFile === undefined
            ? kept
            : sealClientSecret(keys.secret, await readSecret(clientSecretFile));
        const settings = {
          issuer,
          clientId,
          sealedSecret,
          domains: domain,
          groupsClaim,
          adminGroup: adminGroup ?? null,
          groups: group ?? [],
          ssoOnly: options.ssoOnly === true,
        };
        await db.write((tx) => setIdentityProvider(tx, cliAttribution(clock()), organization, settings));
        const redirectUri = callbackUrl(addresses, organization);
        const [shown] = await listIdentityProviders(db.read, organization);
        if (shown === undefined) throw new CliError('The provider was removed in the meantime.');
        if (json === true) return printJson({ ...toJson(shown), redirect_uri: redirectUri });
        printLines(
          ...formatProvider(shown, redirectUri),
          'Register the redirect address at the provider, exactly as it stands here.',
        );
      }),
    );

  addCommand(family, 'show', {
    description: 'Show the providers of all organizations, or of one',
    examples: [['assay sso show'], ['assay sso show --organization acme']],
  })
    .option('--organization <uid>', 'whose provider')
    .action(({ organization, json, ...flags }: CommonOptions & { organization?: string }) =>
      withContext(flags, async ({ db, addresses }) => {
        if (organization !== undefined) await requireOrganization(db.read, organization);
        const providers = await listIdentityProviders(db.read, organization);
        const shown = providers.map((provider) => ({
          provider,
          redirectUri: callbackUrl(addresses, provider.organization),
        }));
        if (json === true) {
          return printJson(
            shown.map(({ provider, redirectUri }) => ({ ...toJson(provider), redirect_uri: redirectUri })),
          );
        }
        if (shown.length === 0) {
          const none =
            organization === undefined ? 'There is no provider yet' : `${organization} has no provider`;
          return printLines(`${none}. "assay sso set" names one.`);
        }
        printLines(
          ...shown.flatMap(({ provider, redirectUri }, index) => [
            ...(index === 0 ? [] : ['']),
            ...formatProvider(provider, redirectUri),
          ]),
        );
      }),
    );

  addCommand(family, 'remove', {
    description: 'Take the provider of an organization away',
    notes:
      'Accounts stay. Who has a password signs in with it; the others need an invitation or a reset link.\n' +
      'Browsers that are signed in stay so.',
    examples: [['assay sso remove --organization acme']],
  })
    .requiredOption('--organization <uid>', 'whose provider')
    .action(({ organization, json, ...flags }: CommonOptions & { organization: string }) =>
      withContext(flags, async ({ db, clock }) => {
        await requireOrganization(db.read, organization);
        await db
          .write((tx) => removeIdentityProvider(tx, cliAttribution(clock()), organization))
          .catch(throwUsageError(`${organization} has no provider. "assay sso show" lists them.`));
        if (json === true) return printJson({ organization, removed: true });
        printLines(`${organization} has no provider any more.`);
      }),
    );

  addCommand(family, 'unlink', {
    description: 'Forget who a user is at the provider, so that their next sign-in there is linked anew',
    notes:
      'For a person whom the provider knows under another subject now, such as after it was set up again.',
    examples: [['assay sso unlink --user ada@acme.example']],
  })
    .requiredOption('--user <user>', 'an e-mail address, an id or a uid')
    .action(({ user, json, ...flags }: CommonOptions & { user: string }) =>
      withContext(flags, async ({ db, clock }) => {
        const { id, email } = await requireUser(db.read, user);
        await db
          .write((tx) => unlinkIdentities(tx, cliAttribution(clock()), id))
          .catch(throwUsageError(`${email} never signed in through a provider.`));
        if (json === true) return printJson({ email, unlinked: true });
        printLines(`${email} is linked anew at the next sign-in through the provider.`);
      }),
    );
}

/** @returns the issuer as the provider writes it */
async function checkIssuer(issuer: string, clientId: string): Promise<string> {
  // Only this command pays for loading the client.
  const { discoverProvider, ProviderError } = await import('../sso/provider.ts');
  try {
    return (await discoverProvider({ issuer, clientId, secret: null })).serverMetadata().issuer;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new CliError(
      `The provider at ${issuer} cannot be used: ${error.reason}. Check --issuer, and that this machine reaches it.`,
    );
  }
}

async function readSecret(file: string): Promise<string> {
  const stream = file === '-' ? streams().stdin : createReadStream(file);
  let text = '';
  try {
    for await (const chunk of stream.setEncoding('utf8')) {
      text += chunk as string;
      if (text.length > MAX_SECRET) break;
    }
  } catch (error) {
    throw new CliError(`The client secret cannot be read from ${file} (${errorCodeOf(error) ?? 'no file'}).`);
  }
  const secret = text.trim();
  if (!isPlainText(secret, MAX_SECRET)) {
    throw new CliError(`The client secret must be one line of 1 to ${MAX_SECRET} characters.`, 2);
  }
  return secret;
}

/** Names of groups may hold an equals sign, uids of assessments do not. */
function parseGroupMapping(
  text: string,
  before: { group: string; assessment: string }[] | undefined,
): { group: string; assessment: string }[] {
  const equals = text.lastIndexOf('=');
  if (equals < 1 || equals === text.length - 1)
    throw new InvalidArgumentError('It must be the name of a group and the uid of an assessment: NAME=UID.');
  return [...(before ?? []), { group: text.slice(0, equals), assessment: text.slice(equals + 1) }];
}

function throwUsageError(message: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof DomainError && error.kind === 'missing') throw new CliError(message);
    throw error;
  };
}

function formatProvider(provider: ListedProvider, redirectUri: string): string[] {
  return keyValueLines({
    organization: provider.organization,
    issuer: provider.issuer,
    client: `${provider.clientId} (${provider.confidential ? 'with a secret' : 'public'})`,
    domains: provider.domains.join(' '),
    'groups claim': provider.groupsClaim,
    'admin group': provider.adminGroup,
    groups: provider.groups.map(({ group, assessment }) => `${group}=${assessment}`).join(' '),
    'sso only': provider.ssoOnly,
    'redirect address': redirectUri,
  });
}

function toJson(provider: ListedProvider): object {
  return {
    organization: provider.organization,
    issuer: provider.issuer,
    client_id: provider.clientId,
    confidential: provider.confidential,
    domains: provider.domains,
    groups_claim: provider.groupsClaim,
    admin_group: provider.adminGroup,
    groups: provider.groups,
    sso_only: provider.ssoOnly,
  };
}
