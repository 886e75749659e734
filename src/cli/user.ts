import { type Command, Option } from 'commander';
import { cliAttribution } from '../auth/callers.ts';
import { invitationUrl } from '../auth/account-links.ts';
import { passwordResetUrl } from '../auth/reset-links.ts';
import type { Addresses, Config } from '../config/config.ts';
import type { ReadConnection } from '../db/engine.ts';
import { applyBan } from '../domain/users/ban-user.ts';
import { renewInvitation } from '../domain/users/invitations.ts';
import { createPasswordReset } from '../domain/sign-in/password-resets.ts';
import { hasSecondFactor, resetSecondFactor } from '../domain/sign-in/second-factors.ts';
import { endUserSessions } from '../domain/sign-in/end-sessions.ts';
import {
  assignStaff,
  createUser,
  type ListedUser,
  listUsers,
  userByEmail,
  userById,
  userByUid,
} from '../domain/users/users.ts';
import { addCommand, addCommandGroup, type CommonOptions } from './command.ts';
import { streams } from './streams.ts';
import { withContext } from './with-context.ts';
import { requireOrganization } from './organization.ts';
import { pluralize, keyValueLines, printJson, printLines, table } from './print.ts';
import { userNotFound, CliError } from './errors.ts';
import { readServerUrl } from './server-url-file.ts';

interface CreateOptions extends CommonOptions {
  email: string;
  name?: string;
  organization?: string;
  staff?: boolean;
  admin?: boolean;
  assign?: string[];
}

export function registerUserCommand(program: Command): void {
  const family = addCommandGroup(
    program,
    'user',
    'People: client users of an organization, and platform staff',
  );

  addCommand(family, 'create', {
    inputs: { assignedTo: 'assign' },
    description: 'Invite a user of an organization, or of the platform staff',
    notes:
      'Give the invite_url to them and to nobody else: whoever opens it sets the password, once, within a week unless\n' +
      'ASSAY_INVITATION_SECONDS says otherwise. It begins with ASSAY_CLIENT_BASE_URL. Staff reach every\n' +
      'organization unless some are named with --assign.',
    examples: [
      ['assay user create --email ada@example.com --organization acme --admin', 'an admin of acme'],
      ['assay user create --email bob@example.com --organization acme --name "Bob Ng"', 'a user of acme'],
      ['assay user create --email eve@example.com --staff', 'platform staff'],
    ],
  })
    .requiredOption('--email <email>', 'their e-mail address')
    .addOption(new Option('--organization <uid>', 'the organization that they are of').conflicts('staff'))
    .option('--staff', 'platform staff, who are of no organization')
    .option('--admin', 'an admin of the organization')
    .option('--name <name>', 'what people call them')
    .option('--assign <uid...>', 'for staff: the organizations that they work for; all unless told')
    .action(({ email, name, organization, staff, admin, assign, json, ...flags }: CreateOptions) => {
      if ((organization === undefined) === (staff !== true)) {
        throw new CliError('Say whose user it is: --organization UID, or --staff.', 2);
      }
      if (assign !== undefined && staff !== true) throw new CliError('--assign is for --staff only.', 2);
      return withContext(
        flags,
        async ({ config, db, keys, addresses, clock }) => {
          for (const uid of organization === undefined ? (assign ?? []) : [organization]) {
            await requireOrganization(db.read, uid);
          }
          const now = clock();
          const created = await db.write((tx) =>
            createUser(tx, cliAttribution(now), { email, name, organization, admin, assignedTo: assign }),
          );
          const { uid } = created;
          const invite_url = invitationUrl(addresses.clientBaseUrl, keys.secret, { uid, invitedAt: now });
          if (json === true) return printJson({ ...created, invite_url });
          printLines(
            ...keyValueLines({ ...created, invite_url }),
            `"assay token create --user ${created.email}" makes a token for them.`,
          );
          warnAssumedPublicUrl(config, addresses);
        },
        { makesDatabase: true },
      );
    });

  addCommand(family, 'assign <user>', {
    inputs: { assignedTo: 'organization' },
    description: 'Confine platform staff to organizations',
    notes:
      'USER is an e-mail address, an id or a uid. From then on they reach these organizations and nothing of others, with\n' +
      'the tokens that they have as well. What they were assigned to before is replaced.',
    examples: [
      ['assay user assign eve@example.com --organization acme umbra'],
      ['assay user assign eve@example.com --all', 'every organization again'],
    ],
  })
    .option('--organization <uid...>', 'the organizations that they work for')
    .addOption(new Option('--all', 'every organization').conflicts('organization'))
    .action(
      (
        who: string,
        { organization, all, json, ...flags }: CommonOptions & { organization?: string[]; all?: boolean },
      ) => {
        if ((organization === undefined) === (all !== true))
          throw new CliError('Say what they work for: --organization UID, or --all.', 2);
        return withContext(flags, async ({ db, clock }) => {
          const { id, uid, email, staff } = await requireUser(db.read, who);
          if (!staff) throw new CliError(`${email} is not platform staff.`);
          const organizations = organization ?? [];
          for (const one of organizations) await requireOrganization(db.read, one);
          await db.write((tx) => assignStaff(tx, cliAttribution(clock()), id, organizations));
          if (json === true) return printJson({ id, uid, email, assigned_to: organizations });
          printLines(
            organizations.length === 0
              ? `${email} reaches every organization.`
              : `${email} reaches ${organizations.join(', ')}, and nothing of others.`,
          );
        });
      },
    );

  const invite = addCommand(family, 'invite <user>', {
    description: 'Invite a user again, whose invitation got lost or too old',
    notes:
      'USER is an e-mail address, an id or a uid. Prints a new link, and ends the one before. Who has accepted gets a new\n' +
      'password with "assay user reset-password".',
    examples: [['assay user invite bob@example.com']],
  });
  invite.showHelpAfterError(
    'It invites again who was invited before; "assay user create --email …" invites somebody new. Run "assay user invite --help" to see what it takes.',
  );
  invite.action((who: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ config, db, keys, addresses, clock }) => {
      const { id, uid, email, banned, invited } = await requireUser(db.read, who);
      if (banned) throw new CliError(`${email} is banned and cannot sign in.`);
      if (!invited) {
        throw new CliError(
          `${email} has accepted the invitation already. "assay user reset-password ${email}" makes a link for a new password.`,
        );
      }
      const renewed = await db.write((tx) => renewInvitation(tx, cliAttribution(clock()), id));
      const invite_url = invitationUrl(addresses.clientBaseUrl, keys.secret, renewed);
      const expires_at = new Date(renewed.invitedAt + config.invitationLifetime).toISOString();
      if (json === true) return printJson({ id, uid, email, invite_url, expires_at });
      printLines(...keyValueLines({ id, uid, email, invite_url, expires: expires_at }));
      warnAssumedPublicUrl(config, addresses);
    }),
  );

  addCommand(family, 'reset-password <user>', {
    description: 'Make a link by which a user sets a new password',
    notes:
      'USER is an e-mail address, an id or a uid. Give the link to them and to nobody else. It is good for one hour and for\n' +
      'one password, and ends the link before. Their password stays until they set the new one, which signs them out\n' +
      'everywhere and takes from applications what they were given; personal access tokens stay.',
    examples: [['assay user reset-password bob@example.com']],
  }).action((who: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ config, db, addresses, clock }) => {
      const { id, uid, email, banned, invited } = await requireUser(db.read, who);
      if (banned) throw new CliError(`${email} is banned and cannot sign in.`);
      if (invited) {
        throw new CliError(
          `${email} has not accepted the invitation yet. "assay user invite ${email}" renews it.`,
        );
      }
      const { secret, expiresAt } = await db.write((tx) =>
        createPasswordReset(tx, cliAttribution(clock()), id),
      );
      const reset_url = passwordResetUrl(addresses.clientBaseUrl, secret);
      const expires_at = new Date(expiresAt).toISOString();
      if (json === true) return printJson({ id, uid, email, reset_url, expires_at });
      printLines(...keyValueLines({ id, uid, email, reset_url, expires: expires_at }));
      warnAssumedPublicUrl(config, addresses);
    }),
  );

  addCommand(family, 'sign-out <user>', {
    description: 'End the sessions of a user in all browsers',
    notes:
      'USER is an e-mail address, an id or a uid. They can sign in again, and their tokens and what applications were given\n' +
      'stay: "assay token revoke" ends a token, and "assay user ban" everything.',
    examples: [['assay user sign-out bob@example.com']],
  }).action((who: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      const { id, uid, email } = await requireUser(db.read, who);
      const sessions = await db.write((tx) => endUserSessions(tx, cliAttribution(clock()), id));
      if (json === true) return printJson({ id, uid, email, sessions });
      printLines(
        sessions === 0
          ? `${email} was not signed in anywhere.`
          : `${email} is signed out of ${pluralize(sessions, 'browsers')}.`,
      );
    }),
  );

  addCommand(family, 'ban <user>', {
    description: 'Ban a user, which ends their sessions and tokens at once',
    notes:
      'USER is an e-mail address, an id or a uid. Someone who never signed in and has no token is deleted instead. The\n' +
      'last admin of an organization cannot be banned. Banning a banned user changes nothing.',
    examples: [['assay user ban bob@example.com']],
  }).action((who: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      const user = await requireUser(db.read, who);
      const { deleted } = await db.write((tx) => applyBan(tx, cliAttribution(clock()), user.id));
      const { id, uid, email } = user;
      if (json === true) return printJson({ id, uid, email, banned: true, deleted });
      printLines(deleted ? `${email} never signed in, and is deleted.` : `${email} is banned.`);
    }),
  );

  addCommand(family, 'reset-second-factor <user>', {
    description: 'Take the second factors from someone who lost them, and end their sessions',
    notes:
      'USER is an e-mail address, an id or a uid. Removes the authenticator app, the passkeys and the recovery codes. Make\n' +
      'sure that it is they who ask: their password alone signs them in then, unless their organization requires a factor.',
    examples: [['assay user reset-second-factor bob@example.com']],
  }).action((who: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      const { id, uid, email } = await requireUser(db.read, who);
      const had = await db.write((tx) => resetSecondFactor(tx, cliAttribution(clock()), id));
      const removed = { totp: had.totp, passkeys: had.passkeys, recovery_codes: had.recoveryCodes };
      if (json === true) return printJson({ id, uid, email, removed });
      printLines(
        hasSecondFactor(had) ? `${email} has no second factor any more.` : `${email} had no second factor.`,
      );
    }),
  );

  addCommand(family, 'list', {
    description: 'List the users',
    examples: [
      ['assay user list'],
      [
        'assay user list --json',
        'id, uid, email, organization, admin, staff, banned, invited, second_factor',
      ],
    ],
  }).action(({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db }) => {
      const users = await listUsers(db.read);
      if (json === true) return printJson(users);
      printLines(
        ...table(
          users,
          {
            ID: (row) => row.id,
            UID: (row) => row.uid,
            EMAIL: (row) => row.email,
            ORGANIZATION: (row) => row.organization,
            ROLE: (row) => (row.staff ? 'staff' : row.admin ? 'admin' : 'user'),
            'SECOND FACTOR': (row) => row.second_factor,
            STATE: (row) => (row.banned ? 'banned' : row.invited ? 'invited' : 'active'),
          },
          'There is no user yet. "assay user create" invites one.',
        ),
      );
    }),
  );
}

function warnAssumedPublicUrl(config: Config, addresses: Addresses): void {
  if (config.clientBaseUrl !== undefined || readServerUrl(config) !== undefined) return;
  streams().stderr.write(
    `The link assumes that the server's address is ${addresses.clientBaseUrl}. Set ASSAY_CLIENT_BASE_URL if it is not.\n`,
  );
}

/**
 * @param who an e-mail address, an id or a uid
 * @throws Refusal that says where to look, when there is none
 */
export async function requireUser(db: ReadConnection, who: string): Promise<ListedUser> {
  // No two of them look alike: an address has an @, and a uid begins with a letter.
  const found = who.includes('@')
    ? await userByEmail(db, who)
    : /^[1-9]\d{0,14}$/.test(who)
      ? await userById(db, Number(who))
      : await userByUid(db, who);
  if (found === undefined) throw userNotFound(who);
  return found;
}
