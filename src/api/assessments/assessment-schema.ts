import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import type { AssessmentView } from '../../domain/assessments/assessment-list.ts';
import {
  ASSESSMENT_STATES,
  DRAFT_POLICIES,
  ASSESSMENT_TYPES,
  ASSESSMENT_UID,
  MAX_DESCRIPTION,
} from '../../domain/assessments/assessments.ts';
import { ORGANIZATION_UID_PATTERN } from '../../domain/lists/filters.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import {
  DateTimeSchema,
  MAX_RESULTS,
  nameSchema,
  nullable,
  textSchema,
  urlSchema,
} from '../../http/schemas.ts';
import { ALLOW_UNKNOWN_ID } from '../../http/validation/derived-schemas.ts';
import { AssessmentTagSchema } from './assessment-tags.ts';

const MAX_TAGS = 1_000;

/** A value that does not match the pattern gets a 404, like an unknown id. */
const assessmentParamsSchema = (example: string) =>
  Type.Object({
    id: Type.String({
      pattern: ASSESSMENT_UID.source,
      maxLength: 50,
      [ALLOW_UNKNOWN_ID]: '',
      description: 'The id of an assessment.',
      examples: [example],
    }),
  });

export const AssessmentParamsSchema = assessmentParamsSchema('acme-web-2026');

/** An example that can be deleted without breaking the examples of later operations. */
export const DeleteAssessmentParamsSchema = assessmentParamsSchema('acme-internal-2025');

const DateSchema = Type.String({ format: 'date', maxLength: 10, examples: ['2026-11-21'] });
const AssessmentTypeSchema = Type.Enum(ASSESSMENT_TYPES, { type: 'string', examples: ['api'] });
const AssessmentStateSchema = Type.Enum(ASSESSMENT_STATES, { type: 'string', examples: ['active'] });
const DraftPolicySchema = Type.Enum(DRAFT_POLICIES, {
  type: 'string',
  description:
    'Whether what staff report or import begins as a draft, which only staff see: `off`, `on`, or `second_person` if another member of staff has to publish it. Only staff can change it.',
  examples: ['off'],
});
const GroupIdSchema = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The id of the assessment group that the assessment belongs to.',
  examples: [1],
});
const AssessmentUidSchema = textSchema('acme-api-2026');

export const AssessmentSchema = Type.Object(
  {
    uid: AssessmentUidSchema,
    id: { ...AssessmentUidSchema, description: 'Same as `uid`.' },
    codename: { ...AssessmentUidSchema, description: 'Same as `uid`.' },
    name: textSchema('Partner API 2026'),
    description: textSchema('The API that partners book with, and its sandbox.'),
    type: Type.String({ ...AssessmentTypeSchema, maxLength: 16 }),
    state: Type.String({ ...AssessmentStateSchema, maxLength: 16 }),
    drafts: Type.String({ ...DraftPolicySchema, maxLength: 16 }),
    assessment_group_id: nullable(GroupIdSchema),
    organization_uid: textSchema('acme'),
    tags: Type.Array(AssessmentTagSchema, { maxItems: MAX_RESULTS }),
    tag_ids: Type.Array(Type.Integer(), { maxItems: MAX_RESULTS }),
    vulnerability_count: Type.Integer({ minimum: 0 }),
    open_vulnerability_count: Type.Integer({
      minimum: 0,
      description: 'The number of open vulnerabilities.',
    }),
    asset_count: Type.Integer({ minimum: 0 }),
    starts_on: nullable(DateSchema),
    ends_on: nullable(DateSchema),
    created_at: DateTimeSchema,
    updated_at: DateTimeSchema,
    link: urlSchema('http://127.0.0.1:8080/assessments/acme-api-2026'),
    permissions: Type.Optional(
      Type.Object(
        {
          read_vulnerabilities: Type.Boolean({ description: 'See its vulnerabilities and testing hours.' }),
          comment: Type.Boolean({
            description: 'Comment, attach files, request retests, set open statuses.',
          }),
          report: Type.Boolean({
            description: 'Create and edit vulnerabilities, import, log testing hours.',
          }),
          triage: Type.Boolean({ description: 'Set every status and tags, decide retests.' }),
          dismiss: Type.Boolean({ description: 'Set the statuses 6 to 9.' }),
          write_assets: Type.Boolean({
            description:
              'Change its assets, their tags and its listing, as far as the scopes of the token allow.',
          }),
          edit: Type.Boolean({ description: 'Change the assessment (operation 39).' }),
        },
        {
          title: 'Assessment permissions',
          description: "What the caller's roles in it permit; present with `include_permissions`.",
        },
      ),
    ),
  },
  { title: 'Assessment' },
);

/** Items may be the tag objects that a GET returns. */
const TagIdsSchema = Type.Array(
  Type.Union([
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    Type.Object(
      { id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) },
      { title: 'Assessment tag by id' },
    ),
  ]),
  {
    maxItems: MAX_TAGS,
    description:
      'Tag ids. Together with `tag_list`, replaces the tags of the assessment; `[]` removes all of them.',
    examples: [[1]],
  },
);
const TagNamesSchema = Type.Array(
  Type.Union([
    nameSchema('external'),
    Type.Object({ name: nameSchema('external') }, { title: 'Assessment tag by name' }),
  ]),
  {
    maxItems: MAX_TAGS,
    description: 'Tag names. Tags that do not exist are created if the caller is an admin.',
    examples: [['external']],
  },
);

const DescriptionSchema = Type.String({
  maxLength: MAX_DESCRIPTION,
  description: 'Markdown.',
  examples: ['The API that partners book with, and its sandbox.'],
});

export const NewAssessmentSchema = Type.Object(
  {
    name: nameSchema('Partner API 2026'),
    uid: Type.Optional(
      Type.String({
        pattern: ASSESSMENT_UID.source,
        maxLength: 50,
        description:
          'Defaults to ten random characters. Used in URLs; cannot be changed. The assessment gets it with a hyphen and four random characters, unless the caller is staff of all organizations.',
        examples: ['acme-api-2026'],
      }),
    ),
    description: Type.Optional(DescriptionSchema),
    type: Type.Optional({ ...AssessmentTypeSchema, default: 'web' }),
    state: Type.Optional({ ...AssessmentStateSchema, default: 'active' }),
    drafts: Type.Optional({ ...DraftPolicySchema, default: 'off' }),
    assessment_group_id: Type.Optional(GroupIdSchema),
    starts_on: Type.Optional(DateSchema),
    ends_on: Type.Optional({ ...DateSchema, examples: ['2026-12-18'] }),
    tag_list: Type.Optional(TagNamesSchema),
    organization_uid: Type.Optional(
      Type.String({
        pattern: ORGANIZATION_UID_PATTERN,
        maxLength: 50,
        description: 'The uid of the organization to create the assessment in. Required for staff.',
        examples: ['acme'],
      }),
    ),
  },
  { title: 'New assessment' },
);

export const UpdateAssessmentSchema = Type.Object(
  {
    name: Type.Optional(nameSchema('Web programme 2026')),
    description: Type.Optional(nullable(DescriptionSchema)),
    type: Type.Optional(nullable({ ...AssessmentTypeSchema, examples: ['web'] })),
    state: Type.Optional(nullable(AssessmentStateSchema)),
    drafts: Type.Optional(DraftPolicySchema),
    assessment_group_id: Type.Optional(nullable(GroupIdSchema)),
    starts_on: Type.Optional(nullable(DateSchema)),
    ends_on: Type.Optional(nullable({ ...DateSchema, examples: ['2026-12-18'] })),
    tags: Type.Optional(TagIdsSchema),
    tag_list: Type.Optional(TagNamesSchema),
  },
  { title: 'Assessment change' },
);

/** Returns the names of tags, which may be given as the objects that a GET returns. */
export function tagNamesOf(items: readonly (string | { name: string })[] | undefined): string[] | undefined {
  return items?.map((tag) => (typeof tag === 'string' ? tag : tag.name));
}

export function toAssessmentBody(
  assessment: AssessmentView,
  { addresses }: Pick<Context, 'addresses'>,
  { withPermissions = false } = {},
): Static<typeof AssessmentSchema> {
  const { uid, tags, permissions } = assessment;
  return {
    uid,
    id: uid,
    codename: uid,
    name: assessment.name,
    description: assessment.description,
    type: assessment.type,
    state: assessment.state,
    drafts: assessment.drafts,
    assessment_group_id: assessment.groupId,
    organization_uid: assessment.organizationUid,
    tags: tags.map(({ id, name }) => ({ id, name })),
    tag_ids: tags.map(({ id }) => id),
    vulnerability_count: assessment.vulnerabilityCount,
    open_vulnerability_count: assessment.openVulnerabilityCount,
    asset_count: assessment.assetCount,
    starts_on: assessment.startsOn,
    ends_on: assessment.endsOn,
    created_at: formatTimestamp(assessment.createdAt),
    updated_at: formatTimestamp(assessment.updatedAt),
    link: `${addresses.clientBaseUrl}/assessments/${uid}`,
    ...(withPermissions
      ? {
          permissions: {
            read_vulnerabilities: permissions.readVulnerabilities,
            comment: permissions.comment,
            report: permissions.report,
            triage: permissions.triage,
            dismiss: permissions.dismiss,
            write_assets: permissions.writeAssets,
            edit: permissions.edit,
          },
        }
      : {}),
  };
}
