import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { STATUS_NAMES, VULNERABILITY_STATUSES } from '../../domain/vulnerabilities/catalogue.ts';
import {
  updateVulnerability,
  type Attachment,
  type Vulnerability,
} from '../../domain/vulnerabilities/vulnerability-changes.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { MEDIUM_BODY } from '../../http/json-bodies.ts';
import { operation } from '../../http/operation.ts';
import { DateTime, MAX_RESULTS, nameText, storedText } from '../../http/schemas.ts';
import { versioned } from '../../http/versions.ts';
import { idPath, V1_ACCESS } from './row-ids.ts';
import { vulnerabilityTagBody, VulnerabilityTagBody } from './vulnerability-tags.ts';

const AttachmentBody = Type.Object(
  {
    id: Type.Integer(),
    filename: storedText('request.txt'),
    content_type: storedText('text/plain'),
    file_size: Type.Integer({ description: 'Bytes.', examples: [2048] }),
    created_at: DateTime,
  },
  { title: 'Attachment' },
);

const attachmentBody = (file: Attachment) => ({
  id: file.id,
  filename: file.filename,
  content_type: file.content_type,
  file_size: file.file_size,
  created_at: isoTime(file.created_at),
});

/** The largest integer that JSON carries exactly, and the largest id. */
const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
const MAX_TAGS = 1_000;
const UpdateBody = Type.Object(
  {
    status_id: Type.Optional(
      Type.Integer({
        description: `One of ${VULNERABILITY_STATUSES.map(({ id, name }) => `${id} ${name}`).join(', ')}.`,
        minimum: Math.min(...STATUS_NAMES.keys()),
        maximum: Math.max(...STATUS_NAMES.keys()),
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
      Type.Array(nameText('regression'), {
        maxItems: MAX_TAGS,
        description: 'Names of tags, which are created where they are new.',
      }),
    ),
  },
  { title: 'Vulnerability update' },
);

const VulnerabilityBody = Type.Object(
  {
    id: Type.Integer(),
    title: storedText('SQL injection in the search form'),
    description: storedText('The parameter q reaches the database as it is.'),
    severity: storedText('Critical'),
    status: storedText('Fixed'),
    cvss_score: Type.Unsafe<number | null>({ type: ['number', 'null'], examples: [9.8] }),
    created_at: DateTime,
    updated_at: DateTime,
    tags: Type.Array(VulnerabilityTagBody, { maxItems: MAX_RESULTS }),
    attachments: Type.Array(AttachmentBody, { maxItems: MAX_RESULTS }),
  },
  { title: 'Updated vulnerability' },
);

const declareUpdateVulnerability = ({ clock, db }: Context) =>
  operation({
    id: 'updateVulnerability',
    number: 5,
    summary: 'Update a vulnerability',
    description: 'Updates the status, replaces the tags, or both. What is absent stays as it is.',
    method: 'PATCH',
    path: '/vulnerabilities/:id',
    access: V1_ACCESS,
    params: idPath('The id of a vulnerability.', 1),
    body: UpdateBody,
    bodyLimit: MEDIUM_BODY,
    answers: { 200: { description: 'The vulnerability as it is now.', schema: VulnerabilityBody } },
    inputs: { statusId: 'status_id', tagIds: 'tags', tagNames: 'tag_list' },
    versioned: true,
    async handler({
      caller,
      expected,
      params: { id },
      body: { status_id: statusId, tags: tagIds, tag_list: tagNames },
    }) {
      const act = { actor: caller, now: clock() };
      const change = { statusId, tagIds, tagNames };
      const vulnerability = await db.write((tx) => updateVulnerability(tx, act, id, change, expected));
      return versioned(vulnerability.version, vulnerabilityBody(vulnerability));
    },
  });

function vulnerabilityBody(vulnerability: Vulnerability) {
  const { id, title, description, severity, status, cvssScore, createdAt, updatedAt } = vulnerability;
  return {
    id,
    title,
    description,
    severity,
    status,
    cvss_score: cvssScore,
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
    tags: vulnerability.tags.map(vulnerabilityTagBody),
    attachments: vulnerability.attachments.map(attachmentBody),
  };
}

export const VULNERABILITY_OPERATIONS = [declareUpdateVulnerability];
