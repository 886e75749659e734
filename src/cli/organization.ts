import { type Command, Option } from 'commander';
import { DISMISSAL_ROLES, type DismissalRole } from '../auth/roles.ts';
import { cliChangeContext } from '../auth/callers.ts';
import type { ReadConnection } from '../db/database.ts';
import {
  addOrganizationToGroup,
  createOrganizationGroup,
  listOrganizationGroups,
  listOrganizations,
  type Organization,
  type OrganizationWithSettings,
  findOrganization,
  setDismissalRole,
} from '../domain/organizations/organizations.ts';
import { setSecondFactorRequirement } from '../domain/sign-in/second-factor-requirement.ts';
import { addCommand, addCommandGroup, type CommonOptions, type LocalCommand } from './command.ts';
import { withContext } from './with-context.ts';
import { keyValueLines, printJson, printLines, table } from './print.ts';
import { CliError } from './errors.ts';
import { createOrganization } from '../domain/users/staff-organizations.ts';
import { programName } from './streams.ts';

interface NameOptions extends CommonOptions {
  name: string;
}

interface UpdateOptions extends CommonOptions {
  requireSecondFactor?: boolean;
  dismissalRole?: DismissalRole;
}

export const createOrganizationCommand: LocalCommand = {
  usage: 'create <uid>',
  description: 'Create an organization.',
  notes: 'UID is 1 to 50 lowercase letters and digits. It is used in URLs and cannot be changed.',
  examples: [['assay organization create lumen --name "Lumen Health"']],
  addOptions: (command) => {
    command.requiredOption('--name <name>', 'Set the display name.');
  },
  run: (uid: string, { name, json, ...flags }: NameOptions) =>
    withContext(
      flags,
      async ({ db, clock }) => {
        const created = await db.write((tx) =>
          createOrganization(tx, cliChangeContext(clock()), { uid, name }),
        );
        printOrganization(created, json);
      },
      { createsDatabase: true },
    ),
};

export const updateOrganizationCommand: LocalCommand = {
  usage: 'update <uid>',
  description: 'Update the settings of an organization.',
  notes:
    'If a second factor is required, users set one up at the next sign-in with a password. Sessions of users without one\n' +
    'end, with the access of their applications. Sessions of single sign-on do not end. In an\n' +
    'organization that allows only single sign-on, no session ends.\n' +
    'The dismissal role may set the statuses 6 to 9, as admins and staff always may.',
  examples: [
    ['assay organization update acme --require-second-factor'],
    ['assay organization update acme --no-require-second-factor'],
    ['assay organization update acme --dismissal-role assessment_operator'],
  ],
  addOptions: (command) => {
    command
      .option('--require-second-factor', 'Require an authenticator app or a passkey.')
      .option('--no-require-second-factor', 'Make second factors optional.')
      .addOption(
        new Option('--dismissal-role <role>', 'Set the role that may dismiss vulnerabilities.').choices(
          DISMISSAL_ROLES,
        ),
      );
  },
  run: (uid: string, { requireSecondFactor: required, dismissalRole, json, ...flags }: UpdateOptions) => {
    if (required === undefined && dismissalRole === undefined) {
      throw new CliError(
        'Specify --require-second-factor, --no-require-second-factor or --dismissal-role.',
        2,
      );
    }
    return withContext(flags, async ({ db, clock }) => {
      const { id } = await requireOrganization(db.read, uid);
      const by = cliChangeContext(clock());
      await db.write(async (tx) => {
        if (required !== undefined) await setSecondFactorRequirement(tx, by, uid, required);
        if (dismissalRole !== undefined) await setDismissalRole(tx, by, uid, dismissalRole);
      });
      if (json === true) {
        const updated = (await listOrganizations(db.read)).filter((organization) => organization.id === id);
        return printJson(updated.map(toRow)[0]);
      }
      if (required !== undefined)
        printLines(
          required ? `${uid} now requires a second factor.` : `Second factors are now optional in ${uid}.`,
        );
      if (dismissalRole !== undefined) printLines(`The dismissal role of ${uid} is now ${dismissalRole}.`);
    });
  },
};

export const listOrganizationsCommand: LocalCommand = {
  usage: 'list',
  description: 'List organizations.',
  examples: [['assay organization list']],
  run: ({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db }) => {
      const organizations = (await listOrganizations(db.read)).map(toRow);
      if (json === true) return printJson(organizations);
      printLines(
        ...table(
          organizations,
          {
            ID: (row) => row.id,
            UID: (row) => row.uid,
            NAME: (row) => row.name,
            'SECOND FACTOR': (row) => row.second_factor,
            'DISMISSAL ROLE': (row) => row.dismissal_role,
          },
          `No organizations yet. Run "${programName()} organization create" to create one.`,
        ),
      );
    }),
};

/** Adds the commands that work on the data directory only. */
export function registerOrganizationCommands(parent: Command): void {
  const family = addCommandGroup(parent, 'group', 'Manage organization groups, whose members share tags.');

  addCommand(family, 'create <uid>', {
    description: 'Create an organization group.',
    notes: 'UID is 1 to 50 lowercase letters and digits, and different from the uids of organizations.',
    examples: [['assay organization group create holding --name "Acme Holding"']],
  })
    .requiredOption('--name <name>', 'Set the display name.')
    .action((uid: string, { name, json, ...flags }: NameOptions) =>
      withContext(
        flags,
        async ({ db, clock }) => {
          const created = await db.write((tx) =>
            createOrganizationGroup(tx, cliChangeContext(clock()), { uid, name }),
          );
          printOrganization(created, json);
        },
        { createsDatabase: true },
      ),
    );

  addCommand(family, 'add <group> <organization>', {
    description: 'Add an organization to a group.',
    examples: [['assay organization group add holding acme']],
  }).action((group: string, organization: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      const groups = await listOrganizationGroups(db.read);
      if (!groups.some(({ uid }) => uid === group)) {
        throw new CliError(
          `Group "${group}" not found. Run "${programName()} organization group list" to list groups.`,
        );
      }
      await requireOrganization(db.read, organization);
      await db.write((tx) => addOrganizationToGroup(tx, cliChangeContext(clock()), group, organization));
      if (json === true) return printJson({ group, organization });
      printLines(`Added ${organization} to ${group}.`);
    }),
  );

  addCommand(family, 'list', {
    description: 'List organization groups.',
    examples: [['assay organization group list']],
  }).action(({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db }) => {
      const groups = await listOrganizationGroups(db.read);
      if (json === true) return printJson(groups);
      printLines(
        ...table(
          groups,
          {
            ID: (row) => row.id,
            UID: (row) => row.uid,
            NAME: (row) => row.name,
            ORGANIZATIONS: (row) => row.organizations.join(' '),
          },
          `No groups yet. Run "${programName()} organization group create" to create one.`,
        ),
      );
    }),
  );
}

/**
 * Returns the organization with this uid.
 * @throws CliError if it does not exist
 */
export async function requireOrganization(db: ReadConnection, uid: string): Promise<Organization> {
  const organization = await findOrganization(db, { uid });
  if (organization === undefined) {
    throw new CliError(
      `Organization "${uid}" not found. Run "${programName()} organization list" to list organizations.`,
    );
  }
  return organization;
}

const toRow = ({
  id,
  uid,
  name,
  requireSecondFactor: required,
  dismissalRole,
}: OrganizationWithSettings) => ({
  id,
  uid,
  name,
  second_factor: required ? 'required' : 'optional',
  dismissal_role: dismissalRole,
});

function printOrganization(created: Organization, json: boolean | undefined): void {
  if (json === true) printJson(created);
  else printLines(...keyValueLines({ id: created.id, uid: created.uid, name: created.name }));
}
