import { Type } from 'typebox';
import { VULNERABILITY_STATUSES } from '../../domain/vulnerabilities/vulnerabilities.ts';
import { DateTime, MAX_TEXT } from '../../http/schemas.ts';

/** The longest path parameter that the router takes. A V1 id of any form is answered by its handler. */
const MAX_ID = 8_192;
/** The largest integer that JSON carries exactly, and the largest id. */
const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
const MAX_TAGS = 1_000;
const MAX_RESULTS = 1_000_000;

/** A text in a response. */
const text = (example: string) => Type.String({ maxLength: 65_536, examples: [example] });

const path = (description: string, example: string) =>
  Type.Object({ id: Type.String({ maxLength: MAX_ID, description, examples: [example] }) });

export const VulnerabilityTagPath = path('The id of a vulnerability tag.', '1');
export const AssessmentTagPath = path('The id of an assessment tag.', '1');
export const VulnerabilityPath = path('The id of a vulnerability.', '1');
export const UserPath = path('The id of a user.', '4');
export const AssessmentPath = path('The id of an assessment.', 'acme-web-2026');

const TagName = Type.String({
  maxLength: MAX_TEXT,
  description: '1 to 255 characters.',
  examples: ['needs-retest'],
});

export const RenameBody = Type.Object({ name: TagName });

export const CreateAssessmentTagBody = Type.Object({
  name: TagName,
  assessment_id: Type.String({
    maxLength: MAX_TEXT,
    description: 'The assessment that gets the tag.',
    examples: ['acme-web-2026'],
  }),
});

export const UpdateVulnerabilityBody = Type.Object({
  status_id: Type.Optional(
    Type.Integer({
      description: `One of ${VULNERABILITY_STATUSES.map(({ id, name }) => `${id} ${name}`).join(', ')}.`,
      minimum: -MAX_INTEGER,
      maximum: MAX_INTEGER,
      examples: [5],
    }),
  ),
  tags: Type.Optional(
    Type.Array(Type.Integer({ minimum: -MAX_INTEGER, maximum: MAX_INTEGER, examples: [1] }), {
      maxItems: MAX_TAGS,
      description: 'Ids of tags. Together with `tag_list` the tags to be; `[]` clears them.',
    }),
  ),
  tag_list: Type.Optional(
    Type.Array(TagName, {
      maxItems: MAX_TAGS,
      description: 'Names of tags, which are created where they are new.',
    }),
  ),
});

export const VulnerabilityTagResponse = Type.Object({
  id: Type.Integer(),
  name: text('needs-retest'),
  editable: Type.Boolean({ description: 'Whether the tag can be renamed and deleted.' }),
  organization_profile_id: Type.Integer(),
});

export const AssessmentTagResponse = Type.Object({
  id: Type.Integer(),
  name: text('external'),
});

export const VulnerabilityResponse = Type.Object({
  id: Type.Integer(),
  title: text('SQL injection in the search form'),
  description: text('The parameter q reaches the database as it is.'),
  severity: text('Critical'),
  status: text('Fixed'),
  cvss_score: Type.Unsafe<number | null>({ type: ['number', 'null'], examples: [9.8] }),
  created_at: DateTime,
  updated_at: DateTime,
  tags: Type.Array(VulnerabilityTagResponse, { maxItems: MAX_RESULTS }),
  attachments: Type.Array(
    Type.Object({
      id: Type.Integer(),
      filename: text('request.txt'),
      content_type: text('text/plain'),
      file_size: Type.Integer({ description: 'Bytes.', examples: [2048] }),
      created_at: DateTime,
    }),
    { maxItems: MAX_RESULTS },
  ),
});

export const UserResponse = Type.Object({
  id: Type.Integer(),
  email: text('spare@acme.example'),
  assessment_ids: Type.Array(text('acme-web-2026'), {
    maxItems: MAX_RESULTS,
    description: 'The assessments that the user can access.',
  }),
  banned: Type.Boolean(),
  admin: Type.Optional(Type.Boolean({ description: 'Shown to admins only.' })),
  invite_url: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: MAX_TEXT,
      examples: [null],
      description: 'Shown to admins only; `null` once the invitation is accepted.',
    }),
  ),
});

export const TestingHoursResponse = Type.Object({
  stats_total: Type.Number({ description: 'Hours, two decimals.', examples: [37.25] }),
  from: DateTime,
  to: DateTime,
});
