import { type Static, Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import type { AssessmentView } from '../../domain/assessments/assessment-list.ts';
import {
  ASSESSMENT_STATES,
  ASSESSMENT_TYPES,
  ASSESSMENT_UID,
  MAX_DESCRIPTION,
} from '../../domain/assessments/assessments.ts';
import { ORGANIZATION_UID_PATTERN } from '../../domain/lists/filters.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { DateTime, MAX_RESULTS, MAX_TEXT, nameText, orNull, storedText } from '../../http/schemas.ts';
import { UNKNOWN_ID } from '../../http/validation/validation.ts';
import { AssessmentTagBody } from './assessment-tags.ts';

const MAX_TAGS = 1_000;

/** What cannot be such an id is one that no assessment has: 404. */
const assessmentPath = (example: string) =>
  Type.Object({
    id: Type.String({
      pattern: ASSESSMENT_UID.source,
      maxLength: 50,
      [UNKNOWN_ID]: '',
      description: 'The id of an assessment.',
      examples: [example],
    }),
  });

export const AssessmentPath = assessmentPath('acme-web-2026');

/** The same, of one that whoever tries the operations in their order can do without. */
export const DeletedAssessmentPath = assessmentPath('acme-internal-2025');

const Day = Type.String({ format: 'date', maxLength: 10, examples: ['2026-11-21'] });
const Kind = Type.Enum(ASSESSMENT_TYPES, { type: 'string', examples: ['api'] });
const State = Type.Enum(ASSESSMENT_STATES, { type: 'string', examples: ['active'] });
const GroupId = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The assessment group that it belongs to.',
  examples: [1],
});
const Uid = storedText('acme-api-2026');

export const AssessmentBody = Type.Object(
  {
    uid: Uid,
    id: { ...Uid, description: 'The uid.' },
    codename: { ...Uid, description: 'The uid.' },
    name: storedText('Partner API 2026'),
    description: storedText('The API that partners book with, and its sandbox.'),
    type: storedText('api'),
    state: storedText('active'),
    assessment_group_id: orNull(GroupId),
    organization_uid: storedText('acme'),
    tags: Type.Array(AssessmentTagBody, { maxItems: MAX_RESULTS }),
    tag_ids: Type.Array(Type.Integer(), { maxItems: MAX_RESULTS }),
    vulnerability_count: Type.Integer({ minimum: 0 }),
    open_vulnerability_count: Type.Integer({ minimum: 0, description: 'Those that are not closed.' }),
    asset_count: Type.Integer({ minimum: 0 }),
    starts_on: orNull(Day),
    ends_on: orNull(Day),
    created_at: DateTime,
    updated_at: DateTime,
    link: Type.String({ maxLength: MAX_TEXT, examples: ['http://127.0.0.1:8080/assessments/acme-api-2026'] }),
  },
  { title: 'Assessment' },
);

/** Items of a list of tags may be the objects that a GET gives. */
const TagIds = Type.Array(
  Type.Union([
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    Type.Object(
      { id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) },
      { title: 'Assessment tag by id' },
    ),
  ]),
  {
    maxItems: MAX_TAGS,
    description: 'Ids of tags. Together with `tag_list` the tags to be; `[]` clears them.',
    examples: [[1]],
  },
);
const TagNames = Type.Array(
  Type.Union([
    nameText('external'),
    Type.Object({ name: nameText('external') }, { title: 'Assessment tag by name' }),
  ]),
  {
    maxItems: MAX_TAGS,
    description: 'Names of tags, which are created for admins where they are new.',
    examples: [['external']],
  },
);

const description = Type.String({
  maxLength: MAX_DESCRIPTION,
  description: 'Markdown.',
  examples: ['The API that partners book with, and its sandbox.'],
});

export const NewAssessmentBody = Type.Object(
  {
    name: nameText('Partner API 2026'),
    uid: Type.Optional(
      Type.String({
        pattern: ASSESSMENT_UID.source,
        maxLength: 50,
        description: 'Ten random characters unless told. It stands in addresses and stays.',
        examples: ['acme-api-2026'],
      }),
    ),
    description: Type.Optional(description),
    type: Type.Optional({ ...Kind, default: 'web' }),
    state: Type.Optional({ ...State, default: 'active' }),
    assessment_group_id: Type.Optional(GroupId),
    starts_on: Type.Optional(Day),
    ends_on: Type.Optional({ ...Day, examples: ['2026-12-18'] }),
    tag_list: Type.Optional(TagNames),
    organization_uid: Type.Optional(
      Type.String({
        pattern: ORGANIZATION_UID_PATTERN,
        maxLength: 50,
        description: 'The organization that gets it; staff have to say it.',
        examples: ['acme'],
      }),
    ),
  },
  { title: 'New assessment' },
);

export const AssessmentChangeBody = Type.Object(
  {
    name: Type.Optional(nameText('Web programme 2026')),
    description: Type.Optional(orNull(description)),
    type: Type.Optional(orNull({ ...Kind, examples: ['web'] })),
    state: Type.Optional(orNull(State)),
    assessment_group_id: Type.Optional(orNull(GroupId)),
    starts_on: Type.Optional(orNull(Day)),
    ends_on: Type.Optional(orNull({ ...Day, examples: ['2026-12-18'] })),
    tags: Type.Optional(TagIds),
    tag_list: Type.Optional(TagNames),
  },
  { title: 'Assessment change' },
);

/** @returns the names of tags that may stand in the objects of a GET */
export function tagNamesOf(items: readonly (string | { name: string })[] | undefined): string[] | undefined {
  return items?.map((tag) => (typeof tag === 'string' ? tag : tag.name));
}

/** @returns the assessment as the API tells of it */
export function assessmentBody(
  assessment: AssessmentView,
  { addresses }: Pick<Context, 'addresses'>,
): Static<typeof AssessmentBody> {
  const { uid, tags } = assessment;
  return {
    uid,
    id: uid,
    codename: uid,
    name: assessment.name,
    description: assessment.description,
    type: assessment.type,
    state: assessment.state,
    assessment_group_id: assessment.groupId,
    organization_uid: assessment.organizationUid,
    tags: tags.map(({ id, name }) => ({ id, name })),
    tag_ids: tags.map(({ id }) => id),
    vulnerability_count: assessment.vulnerabilityCount,
    open_vulnerability_count: assessment.openVulnerabilityCount,
    asset_count: assessment.assetCount,
    starts_on: assessment.startsOn,
    ends_on: assessment.endsOn,
    created_at: isoTime(assessment.createdAt),
    updated_at: isoTime(assessment.updatedAt),
    link: `${addresses.clientBaseUrl}/assessments/${uid}`,
  };
}
