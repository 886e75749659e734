import { createReadStream } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { isVisibleText } from '../auth/visible-text.ts';
import { cliChangeContext } from '../auth/callers.ts';
import { DomainError, invalidInput } from '../domain/shared/errors.ts';
import { validateTrustedIssuer } from '../domain/sign-in/identity-provider-settings.ts';
import { unlinkIdentities } from '../domain/sign-in/sign-in-with-provider.ts';
import {
  listIdentityProviders,
  type ListedProvider,
  providerDetails,
  providerByOrganization,
  removeIdentityProvider,
  setIdentityProvider,
} from '../domain/sign-in/identity-providers.ts';
import { callbackUrl, encryptClientSecret } from '../sso/provider-setup.ts';
import { addCommand, addCommandGroup, type CommonOptions } from './command.ts';
import { programName, streams } from './streams.ts';
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
  trustEmail?: boolean;
}

/** Maximum length of a client secret, in characters. */
const MAX_SECRET = 4_096;

export function registerSsoCommand(program: Command): void {
  const group = addCommandGroup(program, 'sso', 'Configure single sign-on with OpenID Connect.');
  addSetCommand(group);
  addShowCommand(group);
  addRemoveCommand(group);
  addUnlinkCommand(group);
}

function addSetCommand(group: Command): void {
  addCommand(group, 'set', {
    inputs: { domains: 'domain', groups: 'group' },
    description: 'Set the identity provider of an organization.',
    notes:
      'Users with a verified email address in one of the domains sign in at the provider; an account is created at the\n' +
      'first sign-in. With --trust-email, an address counts as verified if the provider does not say whether it is, as\n' +
      'Microsoft Entra ID does not: use it only if users cannot set their own address in the directory.\n' +
      'The client secret is read from a file or standard input, so that it does not appear in process listings. Without\n' +
      '--client-secret-file the stored secret of this issuer and client is used; without one, the client is public.\n' +
      'Replaces an existing configuration. Register the printed redirect URI, which begins with ASSAY_CLIENT_BASE_URL, at\n' +
      'the provider.',
    examples: [
      [
        'assay sso set --organization acme --issuer https://login.acme.example --client-id assay \\\n' +
          '      --client-secret-file secret.txt --domain acme.example',
      ],
      [
        'assay sso set --organization acme --issuer https://login.acme.example --client-id assay \\\n' +
          '      --domain acme.example --admin-group security-leads --group web-team=acme-shop --sso-only',
        'Assign admins and access by group, and disable passwords.',
      ],
      [
        'assay sso set --organization acme --issuer https://login.microsoftonline.com/TENANT-ID/v2.0 \\\n' +
          '      --client-id APPLICATION-ID --client-secret-file secret.txt --domain acme.example --trust-email',
        'Use Microsoft Entra ID, which does not send email_verified.',
      ],
    ],
  })
    .requiredOption('--organization <uid>', 'Select the organization by its uid.')
    .requiredOption('--issuer <url>', 'Set the https URL of the issuer.')
    .requiredOption('--client-id <id>', 'Set the client id at the provider.')
    .option('--client-secret-file <file>', 'Read the client secret from this file ("-" for standard input).')
    .requiredOption(
      '--domain <domain...>',
      'Let users with an email address in these domains sign in at the provider.',
    )
    .option('--groups-claim <claim>', 'Read the groups of a user from this claim.', 'groups')
    .option('--admin-group <name>', 'Make the members of this group, and only them, admins.')
    .addOption(
      new Option(
        '--group <name=assessment...>',
        'Give members of a group access to an assessment.',
      ).argParser(parseGroupMapping),
    )
    .option('--sso-only', 'Disable passwords and passkeys for users of the organization.')
    .option('--trust-email', 'Accept addresses without email_verified from this provider.')
    .action(setProvider);
}

function setProvider({ json, ...options }: SetOptions): Promise<void> {
  return withContext(options, async ({ db, keys, addresses, clock }) => {
    const { organization, clientId, clientSecretFile, domain, groupsClaim, adminGroup, group } = options;
    await requireOrganization(db.read, organization);
    const trustEmail = options.trustEmail === true;
    const fieldErrors = validateTrustedIssuer({ issuer: options.issuer, trustEmail });
    if (fieldErrors.length > 0) throw invalidInput(fieldErrors);
    const issuer = await checkIssuer(options.issuer, clientId, clock);
    const before = await providerByOrganization(db.read, organization);
    const storedSecret =
      before?.issuer === issuer && before.clientId === clientId ? before.encryptedSecret : null;
    const encryptedSecret =
      clientSecretFile === undefined
        ? storedSecret
        : encryptClientSecret(keys.secret, await readSecret(clientSecretFile));
    const settings = {
      issuer,
      clientId,
      encryptedSecret,
      domains: domain,
      groupsClaim,
      adminGroup: adminGroup ?? null,
      groups: group ?? [],
      ssoOnly: options.ssoOnly === true,
      trustEmail,
    };
    await db.write((tx) => setIdentityProvider(tx, cliChangeContext(clock()), organization, settings));
    const redirectUri = callbackUrl(addresses, organization);
    const [provider] = await listIdentityProviders(db.read, organization);
    if (provider === undefined) throw new CliError('The provider was removed by another command.');
    if (json === true) return printJson({ ...toJson(provider), redirect_uri: redirectUri });
    printLines(
      ...formatProvider(provider, redirectUri),
      'Register this redirect URI at the provider, exactly as shown.',
    );
  });
}

function addShowCommand(group: Command): void {
  addCommand(group, 'show', {
    description: 'Show identity providers.',
    examples: [['assay sso show'], ['assay sso show --organization acme']],
  })
    .option('--organization <uid>', 'Select the organization by its uid.')
    .action(({ organization, json, ...flags }: CommonOptions & { organization?: string }) =>
      withContext(flags, async ({ db, addresses }) => {
        if (organization !== undefined) await requireOrganization(db.read, organization);
        const providers = await listIdentityProviders(db.read, organization);
        const rows = providers.map((provider) => ({
          provider,
          redirectUri: callbackUrl(addresses, provider.organization),
        }));
        if (json === true) {
          return printJson(
            rows.map(({ provider, redirectUri }) => ({ ...toJson(provider), redirect_uri: redirectUri })),
          );
        }
        if (rows.length === 0) {
          const noProvider =
            organization === undefined
              ? 'No identity providers yet'
              : `${organization} has no identity provider`;
          return printLines(`${noProvider}. Run "${programName()} sso set" to add one.`);
        }
        printLines(
          ...rows.flatMap(({ provider, redirectUri }, index) => [
            ...(index === 0 ? [] : ['']),
            ...formatProvider(provider, redirectUri),
          ]),
        );
      }),
    );
}

function addRemoveCommand(group: Command): void {
  addCommand(group, 'remove', {
    description: 'Remove the identity provider of an organization.',
    notes:
      'Accounts and sessions stay. Users without a password need an invitation or a password reset link to sign in.',
    examples: [['assay sso remove --organization acme']],
  })
    .requiredOption('--organization <uid>', 'Select the organization by its uid.')
    .action(({ organization, json, ...flags }: CommonOptions & { organization: string }) =>
      withContext(flags, async ({ db, clock }) => {
        await requireOrganization(db.read, organization);
        await db
          .write((tx) => removeIdentityProvider(tx, cliChangeContext(clock()), organization))
          .catch(
            rethrowNotFoundAs(
              `${organization} has no identity provider. Run "${programName()} sso show" to list them.`,
            ),
          );
        if (json === true) return printJson({ organization, removed: true });
        printLines(`Removed the identity provider of ${organization}.`);
      }),
    );
}

function addUnlinkCommand(group: Command): void {
  addCommand(group, 'unlink', {
    description: 'Unlink a user from their identity at the provider.',
    notes:
      'Use this if the subject of the user has changed at the provider. The next sign-in links the account again.',
    examples: [['assay sso unlink --user ada@acme.example']],
  })
    .requiredOption('--user <user>', 'Select the user by email address, id or uid.')
    .action(({ user, json, ...flags }: CommonOptions & { user: string }) =>
      withContext(flags, async ({ db, clock }) => {
        const { id, email } = await requireUser(db.read, user);
        await db
          .write((tx) => unlinkIdentities(tx, cliChangeContext(clock()), id))
          .catch(rethrowNotFoundAs(`${email} is not linked to an identity provider.`));
        if (json === true) return printJson({ email, unlinked: true });
        printLines(`Unlinked ${email}. The next sign-in at the provider links the account again.`);
      }),
    );
}

/** Returns the issuer as the provider spells it. */
async function checkIssuer(issuer: string, clientId: string, clock: () => number): Promise<string> {
  // Loaded on demand, because only this command needs it.
  const { discoverProvider, ProviderError } = await import('../sso/provider.ts');
  try {
    return (await discoverProvider({ issuer, clientId, secret: null }, clock)).metadata.issuer;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new CliError(
      `Cannot use the provider at ${issuer}: ${error.reason}. Check --issuer, the provider's configuration and the network connection.`,
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
    throw new CliError(`Cannot read the client secret from ${file} (${errorCodeOf(error) ?? 'no file'}).`);
  }
  const secret = text.trim();
  if (!isVisibleText(secret, MAX_SECRET)) {
    throw new CliError(`The client secret must be one line of 1 to ${MAX_SECRET} characters.`, 2);
  }
  return secret;
}

/** Splits at the last equals sign: group names may contain one, assessment uids cannot. */
function parseGroupMapping(
  text: string,
  before: { group: string; assessment: string }[] | undefined,
): { group: string; assessment: string }[] {
  const equals = text.lastIndexOf('=');
  if (equals < 1 || equals === text.length - 1)
    throw new InvalidArgumentError('The value must be a group name and an assessment uid: NAME=UID.');
  return [...(before ?? []), { group: text.slice(0, equals), assessment: text.slice(equals + 1) }];
}

function rethrowNotFoundAs(message: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof DomainError && error.kind === 'not-found') throw new CliError(message);
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
    'trust email': provider.trustEmail,
    'redirect URI': redirectUri,
  });
}

const toJson = (provider: ListedProvider): object => ({
  organization: provider.organization,
  ...providerDetails(provider),
});
