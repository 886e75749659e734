import type { Command } from 'commander';
import { ACCESS_ROLES } from '../auth/roles.ts';
import { createHosts } from './create-hosts.ts';
import { createAssessmentCommand, listAssessmentsCommand } from './assessment.ts';
import { CliError } from './errors.ts';
import {
  createOrganizationCommand,
  listOrganizationsCommand,
  registerOrganizationCommands,
  updateOrganizationCommand,
} from './organization.ts';
import type { OperationCommand } from './run-operation.ts';
import { createTokenCommand, listTokensCommand, revokeTokenCommand } from './token.ts';
import { banUserCommand, createUserCommand, listUsersCommand, registerUserCommands } from './user.ts';
import { programName } from './streams.ts';

export interface Resource {
  description: string;
  commands: Readonly<Record<string, OperationCommand | string>>;
  subresources?: Readonly<Record<string, Resource>>;
  /** Adds commands that work on the data directory only. */
  addLocalCommands?: (group: Command) => void;
  /** Operations that hand-written commands call. */
  customCommands?: readonly string[];
}

const VULNERABILITY = '/v1/vulnerabilities/{}';
const ASSET = '/api/asset/v2/assets';
const ASSET_TAGS = '/api/tagging/v1.0/organizations/{}/tags';
const MEMBERS = '/api/assessment/v1/assessment-groups/{}/members';

/** The commands of all operations; a test compares them with the API description. */
export const RESOURCES: Readonly<Record<string, Resource>> = {
  vulnerability: {
    description: 'Manage vulnerabilities, with their evidence, comments and retests.',
    commands: {
      list: {
        endpoint: 'GET /v1/vulnerabilities',
        columns: ['id', 'severity', 'status', 'title', 'assessment_id', 'assignee', 'updated_at'],
      },
      get: `GET ${VULNERABILITY}`,
      create: 'POST /v1/vulnerabilities',
      update: `PATCH ${VULNERABILITY}`,
      replace: `PUT ${VULNERABILITY}`,
      delete: `DELETE ${VULNERABILITY}`,
      'bulk-update': {
        endpoint: 'POST /v1/vulnerabilities/bulk_update',
        example: `assay vulnerability bulk-update --filter '{"severity":["Low"]}' --set '{"add_tags":["later"]}' --dry-run`,
        nextStep: ({ dry_run: isDry, updated_count: count, kept_count: undone }, { headers }) =>
          isDry === true || count === 0 || undone !== undefined
            ? undefined
            : `To undo within one hour: ${programName()} vulnerability bulk-update --undo ${headers.get('x-request-id')}`,
      },
      summary: {
        endpoint: 'GET /v1/vulnerabilities/summary',
        isEmpty: ({ by_severity: bySeverity }) =>
          Object.values(bySeverity as object).every((count) => count === 0),
      },
      statuses: 'GET /v1/vulnerability_statuses',
      timeline: {
        endpoint: `GET ${VULNERABILITY}/timeline`,
        columns: ['at', 'kind', 'user', 'before', 'after', 'comment'],
      },
    },
    subresources: {
      attachment: {
        description: 'Manage attachments of a vulnerability.',
        commands: {
          create: { endpoint: `POST ${VULNERABILITY}/attachments` },
          download: `GET ${VULNERABILITY}/attachments/{}`,
          delete: `DELETE ${VULNERABILITY}/attachments/{}`,
        },
      },
      comment: {
        description: 'Manage comments on a vulnerability.',
        commands: {
          list: {
            endpoint: `GET ${VULNERABILITY}/comments`,
            columns: ['id', 'created_at', 'user', 'internal', 'text'],
          },
          create: `POST ${VULNERABILITY}/comments`,
          update: `PATCH ${VULNERABILITY}/comments/{}`,
          delete: `DELETE ${VULNERABILITY}/comments/{}`,
        },
      },
      retest: {
        description: 'Manage retests of a vulnerability.',
        commands: {
          list: {
            endpoint: `GET ${VULNERABILITY}/patch_verifications`,
            columns: ['id', 'status', 'created_at', 'user', 'message', 'decided_by', 'decision_message'],
          },
          create: `POST ${VULNERABILITY}/patch_verifications`,
          decide: `PATCH ${VULNERABILITY}/patch_verifications/{}`,
        },
      },
    },
  },
  asset: {
    description: 'Manage assets and their ports.',
    commands: {
      list: {
        endpoint: `GET ${ASSET}`,
        columns: [
          'uid',
          'organizationUid',
          'assetType',
          'location',
          'criticality',
          'vulnerabilityCount',
          'lastSeen',
        ],
        tableRow: (row) => (row['criticality'] === 'undefined' ? { ...row, criticality: 'Undefined' } : row),
      },
      get: `GET ${ASSET}/{}`,
      create: {
        endpoint: `POST ${ASSET}`,
        description:
          'Create assets. For hosts, --location may also be a range: 192.0.2.1-20 or 192.0.2.0/24, at most 1,024 addresses.',
        localOptions: { '--yes': 'Create the hosts of a range without showing them first.' },
        handle: createHosts,
      },
      update: `PATCH ${ASSET}/{}`,
      delete: `DELETE ${ASSET}/{}`,
      criticality: 'POST /api/asset/v2/bulk/assets/criticality:update',
    },
    subresources: {
      listing: {
        description: 'Manage the assets that an assessment lists.',
        commands: {
          list: 'GET /api/asset/v2/listings/{}/assets',
          update: 'PATCH /api/asset/v2/listings/{}/assets',
        },
      },
      port: {
        description: 'Show ports of hosts, as observed by scans.',
        commands: {
          list: 'GET /api/streaming/v1/{}/assets/{}/ports',
          all: 'GET /api/streaming/v1/{}/assets/ports',
          history: 'GET /api/streaming/v1/{}/assets/{}/ports/history',
        },
      },
    },
  },
  assessment: {
    description: 'Manage assessments and their asset listings.',
    commands: {
      list: {
        endpoint: 'GET /v1/assessments',
        local: listAssessmentsCommand,
        columns: [
          'uid',
          'name',
          'type',
          'state',
          'organization_uid',
          'open_vulnerability_count',
          'starts_on',
          'ends_on',
        ],
      },
      get: 'GET /v1/assessments/{}',
      create: {
        endpoint: 'POST /v1/assessments',
        local: createAssessmentCommand,
        bodyFields: { organization: { member: 'organization_uid' } },
      },
      update: 'PATCH /v1/assessments/{}',
      delete: 'DELETE /v1/assessments/{}',
      hours: 'GET /v1/assessments/{}/testing_hours',
    },
    subresources: {
      access: {
        description: 'Manage access to an assessment.',
        commands: {
          list: {
            endpoint: 'GET /v1/assessments/{}/users',
            columns: ['id', 'uid', 'email', 'name', 'role', 'via'],
          },
          update: {
            endpoint: 'PATCH /v1/assessments/{}/users',
            example: 'assay assessment access update acme-web-2026 --add 5 --role assessment_read_only',
            bodyOption: {
              flags: '--role <role>',
              description: 'Give this role to the users of --add, also to those who have another one.',
              choices: ACCESS_ROLES,
              apply(body, role) {
                const { add } = body;
                if (!Array.isArray(add)) throw new CliError('--role requires --add.', 2);
                return { ...body, add: (add as unknown[]).map((id) => ({ id, role })) };
              },
            },
          },
        },
      },
    },
  },
  group: {
    description: 'Manage assessment groups and their members.',
    commands: {
      list: 'GET /v1/assessment_groups',
      get: 'GET /v1/assessment_groups/{}',
      create: 'POST /v1/assessment_groups',
      update: 'PATCH /v1/assessment_groups/{}',
      delete: 'DELETE /v1/assessment_groups/{}',
    },
    subresources: {
      member: {
        description: 'Manage members of a group and their roles.',
        commands: {
          list: {
            endpoint: `GET ${MEMBERS}`,
            columns: ['userUid', 'userEmail', 'userName', 'role', 'createdAt'],
          },
          add: `POST ${MEMBERS}/batchAdd`,
          remove: `POST ${MEMBERS}/batchRemove`,
        },
      },
    },
  },
  user: {
    description: 'Manage users of organizations, and platform staff.',
    addLocalCommands: registerUserCommands,
    commands: {
      list: {
        endpoint: 'GET /v1/users',
        local: listUsersCommand,
        columns: ['id', 'uid', 'email', 'name', 'organization_uid', 'admin', 'banned'],
      },
      get: { endpoint: 'GET /v1/users/{}', acceptsEmail: true },
      create: {
        endpoint: 'POST /v1/users',
        local: createUserCommand,
        bodyFields: { organization: { member: 'organization_uid' } },
      },
      update: { endpoint: 'PUT /v1/users/{}', acceptsEmail: true },
      ban: { endpoint: 'DELETE /v1/users/{}', local: banUserCommand, acceptsEmail: true },
      unban: {
        endpoint: 'PUT /v1/users/{}',
        acceptsEmail: true,
        body: { reactivate: true },
        description: 'Unban a user; sessions and tokens that the ban revoked stay revoked.',
      },
      whoami: 'GET /v1/users/whoami',
    },
  },
  session: {
    description: 'Manage testing sessions (time tracked on assessments).',
    commands: {
      list: {
        endpoint: 'GET /v1/testing_sessions',
        columns: ['id', 'assessment_id', 'tester', 'started_at', 'ended_at', 'hours', 'note'],
      },
      'list-of': {
        endpoint: 'GET /v1/assessments/{}/testing_sessions',
        columns: ['id', 'tester', 'started_at', 'ended_at', 'hours', 'note'],
      },
      create: 'POST /v1/assessments/{}/testing_sessions',
      update: 'PATCH /v1/testing_sessions/{}',
      delete: 'DELETE /v1/testing_sessions/{}',
    },
  },
  tag: {
    description: 'Manage tags of vulnerabilities, assessments and assets.',
    commands: {
      list: 'GET /v1/vulnerability_tags',
      create: 'POST /v1/vulnerability_tags',
      update: 'PUT /v1/vulnerability_tags/{}',
      delete: 'DELETE /v1/vulnerability_tags/{}',
    },
    subresources: {
      assessment: {
        description: 'Manage tags of assessments.',
        commands: {
          list: 'GET /v1/assessment_tags',
          create: 'POST /v1/assessment_tags',
          update: 'PUT /v1/assessment_tags/{}',
          delete: 'DELETE /v1/assessment_tags/{}',
        },
      },
      asset: {
        description: 'Manage tags of assets.',
        commands: {
          list: `GET ${ASSET_TAGS}`,
          get: `GET ${ASSET_TAGS}/{}`,
          create: `POST ${ASSET_TAGS}`,
          change: `PATCH ${ASSET_TAGS}`,
          update: `PUT ${ASSET_TAGS}/{}`,
          delete: `DELETE ${ASSET_TAGS}`,
        },
      },
    },
  },
  token: {
    description: 'Manage API tokens.',
    commands: {
      list: {
        endpoint: 'GET /v1/tokens',
        local: listTokensCommand,
        columns: ['id', 'name', 'prefix', 'scopes', 'expires_at', 'last_used_at', 'revoked_at'],
      },
      create: {
        endpoint: 'POST /v1/tokens',
        local: createTokenCommand,
        bodyFields: {
          allowIp: { member: 'allowed_addresses' },
          expires: {
            member: 'expires_at',
            convert: (lifetime) => new Date(Date.now() + Number(lifetime)).toISOString(),
          },
        },
      },
      revoke: { endpoint: 'DELETE /v1/tokens/{}', local: revokeTokenCommand },
    },
  },
  import: {
    description: 'Import scanner reports.',
    commands: {
      list: {
        endpoint: 'GET /v1/imports',
        columns: ['id', 'state', 'format', 'file', 'assessment_id', 'created_at', 'result'],
        defaultQuery: {
          flags: '--dry-runs',
          description: 'Include dry runs.',
          query: { 'filter[dry_run]': false },
        },
        tableRow: (row) =>
          (row['options'] as { dry_run: boolean }).dry_run
            ? { ...row, state: `${String(row['state'])} (dry run)` }
            : row,
      },
      get: 'GET /v1/imports/{}',
      cancel: 'POST /v1/imports/{}/cancel',
    },
    customCommands: ['POST /v1/imports', 'GET /v1/imports/{}/events', 'POST /v1/imports/{}/undo'],
  },
  organization: {
    description: 'Manage organizations (tenants) and organization groups.',
    addLocalCommands: registerOrganizationCommands,
    commands: {
      list: { endpoint: 'GET /v1/organizations', local: listOrganizationsCommand },
      get: 'GET /v1/organizations/{}',
      create: { endpoint: 'POST /v1/organizations', local: createOrganizationCommand },
      update: { endpoint: 'PATCH /v1/organizations/{}', local: updateOrganizationCommand },
    },
  },
  audit: {
    description: 'Read the audit log.',
    commands: {
      list: {
        endpoint: 'GET /v1/audit_events',
        columns: ['at', 'action', 'object_type', 'object_id', 'actor', 'request_id'],
      },
    },
  },
};

export function endpointsOf({ commands, subresources = {}, customCommands = [] }: Resource): string[] {
  return [
    ...customCommands,
    ...Object.values(commands).map((command) => (typeof command === 'string' ? command : command.endpoint)),
    ...Object.values(subresources).flatMap(endpointsOf),
  ];
}
