import { type Command, Option } from 'commander';
import { commandLine } from '../auth/callers.ts';
import { invitationUrl } from '../auth/invitations.ts';
import type { Reader } from '../db/engine.ts';
import { banUser } from '../domain/bans.ts';
import { createUser, type ListedUser, listUsers, userByEmail, userById, userByUid } from '../domain/users.ts';
import { addCommand, addFamily, type CommonOptions } from './command.ts';
import { withContext } from './open.ts';
import { requireOrganization } from './organization.ts';
import { pairs, printJson, printLines, table } from './output.ts';
import { Refusal } from './refusal.ts';

interface CreateOptions extends CommonOptions {
  email: string;
  name?: string;
  organization?: string;
  staff?: boolean;
  admin?: boolean;
  assign?: string[];
}

export function registerUser(program: Command): void {
  const family = addFamily(program, 'user', 'People: client users of an organization, and platform staff');

  addCommand(family, 'create', {
    description: 'Invite a user of an organization, or of the platform staff',
    notes:
      'The user counts as invited until a token is made for them. Staff reach every organization unless some are named\n' +
      'with --assign. The invite_url begins with ASSAY_CLIENT_BASE_URL; this version serves no page there yet.',
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
        throw new Refusal('Say whose user it is: --organization UID, or --staff.', 2);
      }
      if (assign !== undefined && staff !== true) throw new Refusal('--assign is for --staff only.', 2);
      return withContext(flags, async ({ config, db, keys, addresses, clock }) => {
        for (const uid of organization === undefined ? (assign ?? []) : [organization]) {
          await requireOrganization(db.read, uid);
        }
        const created = await db.write((tx) =>
          createUser(tx, commandLine(), { email, name, organization, admin, assignedTo: assign }, clock()),
        );
        const invite_url = invitationUrl(addresses.clientBaseUrl, keys.secret, created.uid);
        if (json === true) return printJson({ ...created, invite_url });
        printLines(
          ...pairs({ ...created, invite_url }),
          `"assay token create --user ${created.email}" makes a token for them.`,
        );
        if (config.clientBaseUrl === undefined) {
          process.stderr.write(
            `The link assumes that the server's address is ${addresses.clientBaseUrl}. Set ASSAY_CLIENT_BASE_URL if it is not.\n`,
          );
        }
      });
    });

  addCommand(family, 'ban <user>', {
    description: 'Ban a user, which ends their sessions and tokens at once',
    notes:
      'USER is an e-mail address, an id or a uid. Who was invited and never signed in is deleted instead. The last\n' +
      'admin of an organization cannot be banned. Banning a banned user changes nothing.',
    examples: [['assay user ban bob@example.com']],
  }).action((who: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      const user = await requireUser(db.read, who);
      const { accepted } = await db.write((tx) => banUser(tx, commandLine(), user.id, clock()));
      const { id, uid, email } = user;
      if (json === true) return printJson({ id, uid, email, banned: true, deleted: !accepted });
      printLines(accepted ? `${email} is banned.` : `${email} never signed in, and is deleted.`);
    }),
  );

  addCommand(family, 'list', {
    description: 'List the users',
    examples: [
      ['assay user list'],
      ['assay user list --json', 'id, uid, email, organization, admin, staff, banned, invited'],
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
            STATE: (row) => (row.banned ? 'banned' : row.invited ? 'invited' : 'active'),
          },
          'There is no user yet. "assay user create" invites one.',
        ),
      );
    }),
  );
}

/**
 * @param who an e-mail address, an id or a uid
 * @throws Refusal that says where to look, when there is none
 */
export async function requireUser(db: Reader, who: string): Promise<ListedUser> {
  // No two of them look alike: an address has an @, and a uid begins with a letter.
  const found = who.includes('@')
    ? await userByEmail(db, who)
    : /^[1-9]\d{0,14}$/.test(who)
      ? await userById(db, Number(who))
      : await userByUid(db, who);
  if (found === undefined) throw new Refusal(`There is no user "${who}". "assay user list" shows them.`);
  return found;
}
