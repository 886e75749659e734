import type { Command } from 'commander';
import { cliAttribution } from '../auth/callers.ts';
import type { ReadConnection } from '../db/engine.ts';
import {
  addOrganizationToGroup,
  insertOrganization,
  createOrganizationGroup,
  listOrganizationGroups,
  listOrganizations,
  type Organization,
  organizationByUid,
} from '../domain/organizations/organizations.ts';
import { requireSecondFactor } from '../domain/sign-in/second-factors.ts';
import { addCommand, addCommandGroup, type CommonOptions } from './command.ts';
import { withContext } from './with-context.ts';
import { keyValueLines, printJson, printLines, table } from './print.ts';
import { CliError } from './errors.ts';

interface NameOptions extends CommonOptions {
  name: string;
}

interface UpdateOptions extends CommonOptions {
  requireSecondFactor?: boolean;
}

export function registerOrganizationCommand(program: Command): void {
  const family = addCommandGroup(
    program,
    'organization',
    'Organizations, which are the tenants, and groups of them',
  );

  addCommand(family, 'create <uid>', {
    description: 'Create an organization',
    notes: 'A uid is 1 to 50 lowercase letters and digits. It stands in the addresses of the API and stays.',
    examples: [['assay organization create lumen --name "Lumen Health"']],
  })
    .requiredOption('--name <name>', 'what people call it')
    .action((uid: string, { name, json, ...flags }: NameOptions) =>
      withContext(
        flags,
        async ({ db, clock }) => {
          const created = await db.write((tx) =>
            insertOrganization(tx, cliAttribution(clock()), { uid, name }),
          );
          printOrganization(created, json);
        },
        { makesDatabase: true },
      ),
    );

  addCommand(family, 'update <uid>', {
    description: 'Change what an organization asks of its users',
    notes:
      'Where a second factor is required, a sign-in with a password leads to setting one up. Sessions of users who have\n' +
      'none end. Sign-ins through a provider are as strong as the provider makes them.',
    examples: [
      ['assay organization update acme --require-second-factor'],
      ['assay organization update acme --no-require-second-factor'],
    ],
  })
    .option('--require-second-factor', 'every user must have an authenticator app or a passkey')
    .option('--no-require-second-factor', 'that is up to each user')
    .action((uid: string, { requireSecondFactor: required, json, ...flags }: UpdateOptions) => {
      if (required === undefined) {
        throw new CliError('Say what to change: --require-second-factor, or --no-require-second-factor.', 2);
      }
      return withContext(flags, async ({ db, clock }) => {
        await requireOrganization(db.read, uid);
        await db.write((tx) => requireSecondFactor(tx, cliAttribution(clock()), uid, required));
        const updated = (await listOrganizations(db.read)).find((organization) => organization.uid === uid);
        if (json === true) return printJson(updated);
        printLines(
          required ? `${uid} requires a second factor.` : `In ${uid}, a second factor is up to each user.`,
        );
      });
    });

  addCommand(family, 'list', {
    description: 'List the organizations',
    examples: [['assay organization list']],
  }).action(({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db }) => {
      const organizations = await listOrganizations(db.read);
      if (json === true) return printJson(organizations);
      printLines(
        ...table(
          organizations,
          {
            ID: (row) => row.id,
            UID: (row) => row.uid,
            NAME: (row) => row.name,
            'SECOND FACTOR': (row) => row.second_factor,
          },
          'There is no organization yet. "assay organization create" makes one.',
        ),
      );
    }),
  );

  registerGroupCommands(
    addCommandGroup(family, 'group', 'Groups of organizations, which own tags that their members share'),
  );
}

function registerGroupCommands(family: Command): void {
  addCommand(family, 'create <uid>', {
    description: 'Create a group of organizations, empty',
    notes: 'A group has a uid of the same form as organizations, and none that one of them has.',
    examples: [['assay organization group create holding --name "Acme Holding"']],
  })
    .requiredOption('--name <name>', 'what people call it')
    .action((uid: string, { name, json, ...flags }: NameOptions) =>
      withContext(
        flags,
        async ({ db, clock }) => {
          const created = await db.write((tx) =>
            createOrganizationGroup(tx, cliAttribution(clock()), { uid, name }),
          );
          printOrganization(created, json);
        },
        { makesDatabase: true },
      ),
    );

  addCommand(family, 'add <group> <organization>', {
    description: 'Put an organization into a group; doing so twice changes nothing',
    examples: [['assay organization group add holding acme']],
  }).action((group: string, organization: string, { json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      const groups = await listOrganizationGroups(db.read);
      if (!groups.some(({ uid }) => uid === group)) {
        throw new CliError(`There is no group "${group}". "assay organization group list" shows them.`);
      }
      await requireOrganization(db.read, organization);
      await db.write((tx) => addOrganizationToGroup(tx, cliAttribution(clock()), group, organization));
      if (json === true) return printJson({ group, organization });
      printLines(`${organization} is in ${group}.`);
    }),
  );

  addCommand(family, 'list', {
    description: 'List the groups with their organizations',
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
          'There is no group yet. "assay organization group create" makes one.',
        ),
      );
    }),
  );
}

/**
 * @returns the organization with this uid
 * @throws Refusal that says where to look, when there is none
 */
export async function requireOrganization(db: ReadConnection, uid: string): Promise<Organization> {
  const organization = await organizationByUid(db, uid);
  if (organization === undefined) {
    throw new CliError(`There is no organization "${uid}". "assay organization list" shows them.`);
  }
  return organization;
}

function printOrganization(created: Organization, json: boolean | undefined): void {
  if (json === true) printJson(created);
  else printLines(...keyValueLines({ id: created.id, uid: created.uid, name: created.name }));
}
