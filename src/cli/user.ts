import { type Command, Option } from 'commander';
import { cliChangeContext } from '../auth/callers.ts';
import { invitationUrl, passwordResetUrl } from '../auth/account-links.ts';
import type { Addresses, Config } from '../config/config.ts';
import type { ReadConnection } from '../db/database.ts';
import { banUser } from '../domain/users/ban-user.ts';
import { renewInvitation } from '../domain/users/invitations.ts';
import { createPasswordReset } from '../domain/sign-in/password-resets.ts';
import { hasSecondFactor, resetSecondFactor } from '../domain/sign-in/second-factors.ts';
import { endUserSessions } from '../domain/sign-in/end-sessions.ts';
import { createUser } from '../domain/users/users.ts';
import { findUser, listUsers, type User } from '../domain/users/user-list.ts';
import { assignStaff } from '../domain/users/staff-organizations.ts';
import { addCommand, type CommonOptions, type LocalCommand } from './command.ts';
import { programName, streams } from './streams.ts';
import { withContext } from './with-context.ts';
import { requireOrganization } from './organization.ts';
import { dataOption, pluralize, keyValueLines, printJson, printLines, table } from './print.ts';
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

/** Adds the commands that work on the data directory only. */
export function registerUserCommands(group: Command): void {
  addAssignCommand(group);
  addInviteCommand(group);
  addResetPasswordCommand(group);
  addSignOutCommand(group);
  addResetSecondFactorCommand(group);
}

export const createUserCommand: LocalCommand = {
  usage: 'create',
  inputs: { assignedTo: 'assign' },
  description: 'Invite a user or platform staff.',
  notes:
    'Send the invite_url only to the user: it sets the password of the account. It can be used once and expires after a\n' +
    'week (ASSAY_INVITATION_SECONDS). It begins with ASSAY_CLIENT_BASE_URL. Staff have access to all organizations, or\n' +
    'only to those of --assign.',
  examples: [
    ['assay user create --email ada@example.com --organization acme --admin', 'Invite an admin of acme.'],
    [
      'assay user create --email bob@example.com --organization acme --name "Bob Ng"',
      'Invite a user of acme.',
    ],
    ['assay user create --email eve@example.com --staff', 'Invite platform staff.'],
  ],
  addOptions: (command) => {
    command
      .requiredOption('--email <email>', 'Set the email address.')
      .addOption(new Option('--organization <uid>', 'Select the organization by its uid.').conflicts('staff'))
      .option('--staff', 'Create platform staff.')
      .option('--admin', 'Make the user an admin of the organization.')
      .option('--name <name>', 'Set the display name.')
      .option('--assign <uid...>', 'Give staff access to these organizations only, by uid (default: all).');
  },
  run: ({ email, name, organization, staff, admin, assign, json, ...flags }: CreateOptions) => {
    if ((organization === undefined) === (staff !== true)) {
      throw new CliError('Specify --organization UID or --staff.', 2);
    }
    if (assign !== undefined && staff !== true) throw new CliError('--assign requires --staff.', 2);
    return withContext(
      flags,
      async ({ config, db, keys, addresses, clock }) => {
        for (const uid of organization === undefined ? (assign ?? []) : [organization]) {
          await requireOrganization(db.read, uid);
        }
        const now = clock();
        const created = await db.write((tx) =>
          createUser(tx, cliChangeContext(now), { email, name, organization, admin, assignedTo: assign }),
        );
        const { uid } = created;
        const invite_url = invitationUrl(addresses.clientBaseUrl, keys.secret, { uid, invitedAt: now });
        if (json === true) return printJson({ ...created, invite_url });
        printLines(
          ...keyValueLines({ ...created, invite_url }),
          `To create a token: ${programName()} token create --user ${created.email}${dataOption(flags.data)}`,
        );
        warnAssumedPublicUrl(config, addresses);
      },
      { createsDatabase: true },
    );
  },
};

function addAssignCommand(group: Command): void {
  addCommand(group, 'assign <user>', {
    inputs: { assignedTo: 'organization' },
    description: 'Restrict platform staff to organizations.',
    notes:
      'USER is an email address, id or uid. Also applies to existing tokens. Replaces earlier assignments.',
    examples: [
      ['assay user assign eve@example.com --organization acme umbra'],
      ['assay user assign eve@example.com --all', 'Give access to all organizations again.'],
    ],
  })
    .option('--organization <uid...>', 'Give access to these organizations only, by uid.')
    .addOption(new Option('--all', 'Give access to all organizations.').conflicts('organization'))
    .action(
      (
        identifier: string,
        { organization, all, json, ...flags }: CommonOptions & { organization?: string[]; all?: boolean },
      ) => {
        if ((organization === undefined) === (all !== true))
          throw new CliError('Specify --organization UID or --all.', 2);
        return withContext(flags, async ({ db, clock }) => {
          const { id, uid, email, staff } = await requireUser(db.read, identifier);
          if (!staff) throw new CliError(`${email} is not platform staff.`);
          const organizations = organization ?? [];
          for (const organizationUid of organizations) await requireOrganization(db.read, organizationUid);
          await db.write((tx) => assignStaff(tx, cliChangeContext(clock()), id, organizations));
          if (json === true) return printJson({ id, uid, email, assigned_to: organizations });
          printLines(
            organizations.length === 0
              ? `${email} has access to all organizations.`
              : `${email} has access to ${organizations.join(', ')} only.`,
          );
        });
      },
    );
}

function addInviteCommand(group: Command): void {
  const invite = addCommand(group, 'invite <user>', {
    description: 'Renew the invitation of a user.',
    notes:
      'USER is an email address, id or uid. Prints a new link; the previous one becomes invalid. Use\n' +
      '"assay user reset-password" for a user who has accepted the invitation.',
    examples: [['assay user invite bob@example.com']],
  });
  invite.showHelpAfterError(
    `To invite a new user, use "${programName()} user create --email …". Run "${programName()} user invite --help" for usage.`,
  );
  invite.action((identifier: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ config, db, keys, addresses, clock }) => {
      const { id, uid, email, banned, accepted } = await requireUser(db.read, identifier);
      if (banned) throw new CliError(`${email} is banned and cannot sign in.`);
      if (accepted) {
        throw new CliError(
          `${email} has already accepted the invitation. To create a password reset link, run "${programName()} user reset-password ${email}".`,
        );
      }
      const renewed = await db.write((tx) => renewInvitation(tx, cliChangeContext(clock()), id));
      const invite_url = invitationUrl(addresses.clientBaseUrl, keys.secret, renewed);
      const expires_at = new Date(renewed.invitedAt + config.invitationLifetime).toISOString();
      if (json === true) return printJson({ id, uid, email, invite_url, expires_at });
      printLines(...keyValueLines({ id, uid, email, invite_url, expires: expires_at }));
      warnAssumedPublicUrl(config, addresses);
    }),
  );
}

function addResetPasswordCommand(group: Command): void {
  addCommand(group, 'reset-password <user>', {
    description: 'Create a password reset link.',
    notes:
      'USER is an email address, id or uid. Send the link only to the user. It can be used once, expires after one hour,\n' +
      'and replaces earlier links. The current password stays valid until a new one is set, which signs the user out\n' +
      'everywhere and revokes the access of applications, but not personal access tokens.',
    examples: [['assay user reset-password bob@example.com']],
  }).action((identifier: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ config, db, addresses, clock }) => {
      const { id, uid, email, banned, accepted } = await requireUser(db.read, identifier);
      if (banned) throw new CliError(`${email} is banned and cannot sign in.`);
      if (!accepted) {
        throw new CliError(
          `${email} has not accepted the invitation yet. To renew it, run "${programName()} user invite ${email}".`,
        );
      }
      const { secret, expiresAt } = await db.write((tx) =>
        createPasswordReset(tx, cliChangeContext(clock()), id),
      );
      const reset_url = passwordResetUrl(addresses.clientBaseUrl, secret);
      const expires_at = new Date(expiresAt).toISOString();
      if (json === true) return printJson({ id, uid, email, reset_url, expires_at });
      printLines(...keyValueLines({ id, uid, email, reset_url, expires: expires_at }));
      warnAssumedPublicUrl(config, addresses);
    }),
  );
}

function addSignOutCommand(group: Command): void {
  addCommand(group, 'sign-out <user>', {
    description: 'Sign a user out of all browsers.',
    notes:
      'USER is an email address, id or uid. The user can sign in again. Tokens and the access of applications stay: use\n' +
      '"assay token revoke" to revoke a token, or "assay user ban" to end all access.',
    examples: [['assay user sign-out bob@example.com']],
  }).action((identifier: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      const { id, uid, email } = await requireUser(db.read, identifier);
      const sessions = await db.write((tx) => endUserSessions(tx, cliChangeContext(clock()), id));
      if (json === true) return printJson({ id, uid, email, sessions });
      printLines(
        sessions === 0
          ? `${email} was not signed in.`
          : `Signed ${email} out of ${pluralize(sessions, 'browsers')}.`,
      );
    }),
  );
}

export const banUserCommand: LocalCommand = {
  usage: 'ban <user>',
  description: 'Ban a user and revoke their sessions and tokens.',
  notes:
    'USER is an email address, id or uid. A user who has never signed in and has no token is deleted instead. The\n' +
    'last admin of an organization cannot be banned. Banning a banned user changes nothing.',
  examples: [['assay user ban bob@example.com']],
  run: (identifier: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      const user = await requireUser(db.read, identifier);
      const { deleted } = await db.write((tx) => banUser(tx, cliChangeContext(clock()), user.id));
      const { id, uid, email } = user;
      if (json === true) return printJson({ id, uid, email, banned: true, deleted });
      printLines(deleted ? `${email} has never signed in and was deleted.` : `Banned ${email}.`);
    }),
};

function addResetSecondFactorCommand(group: Command): void {
  addCommand(group, 'reset-second-factor <user>', {
    description: 'Remove the second factors of a user and end their sessions.',
    notes:
      'USER is an email address, id or uid. Removes authenticator app, passkeys and recovery codes. Verify the identity of\n' +
      'the user first: their password alone is then enough to sign in, or to set up a new factor if they must have one.',
    examples: [['assay user reset-second-factor bob@example.com']],
  }).action((identifier: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      const { id, uid, email } = await requireUser(db.read, identifier);
      const hadSecondFactor = await db.write((tx) => resetSecondFactor(tx, cliChangeContext(clock()), id));
      const removed = {
        totp: hadSecondFactor.totp,
        passkeys: hadSecondFactor.passkeys,
        recovery_codes: hadSecondFactor.recoveryCodes,
      };
      if (json === true) return printJson({ id, uid, email, removed });
      printLines(
        hasSecondFactor(hadSecondFactor)
          ? `Removed the second factors of ${email}.`
          : `${email} had no second factor.`,
      );
    }),
  );
}

export const listUsersCommand: LocalCommand = {
  usage: 'list',
  description: 'List users.',
  examples: [
    ['assay user list'],
    [
      'assay user list --json',
      'Output id, uid, email, organization, admin, staff, banned, invited and second_factor.',
    ],
  ],
  run: ({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db }) => {
      const users = (await listUsers(db.read)).map(toRow);
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
          `No users yet. Run "${programName()} user create" to invite one.`,
        ),
      );
    }),
};

const toRow = (user: User) => ({
  id: user.id,
  uid: user.uid,
  email: user.email,
  organization: user.organizationUid,
  admin: user.admin,
  staff: user.staff,
  banned: user.banned,
  invited: !user.accepted,
  second_factor: user.secondFactor,
});

function warnAssumedPublicUrl(config: Config, addresses: Addresses): void {
  if (config.clientBaseUrl !== undefined || readServerUrl(config) !== undefined) return;
  streams().stderr.write(
    `The link assumes that the server is at ${addresses.clientBaseUrl}. If not, set ASSAY_CLIENT_BASE_URL.\n`,
  );
}

/**
 * @param identifier email address, id or uid
 * @throws CliError if the user does not exist
 */
export async function requireUser(db: ReadConnection, identifier: string): Promise<User> {
  // An email address has an @, and a uid begins with a letter.
  const user = identifier.includes('@')
    ? await findUser(db, { email: identifier })
    : /^[1-9]\d{0,14}$/.test(identifier)
      ? await findUser(db, { id: Number(identifier) })
      : await findUser(db, { uid: identifier });
  if (user === undefined) throw userNotFound(identifier);
  return user;
}
