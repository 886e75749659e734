import { setTimeout as delay } from 'node:timers/promises';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  MAX_BULK_COMMENT_BYTES,
  MAX_BULK_TAG_CHANGES,
  MAX_BULK_TAG_PAIRS,
  bulkUpdateVulnerabilities,
  prepareBulkUpdate,
  countUnsearchable,
  type BulkUpdateResult,
} from '../../domain/vulnerabilities/bulk/update.ts';
import { MAX_BULK_UPDATE } from '../../domain/vulnerabilities/bulk/matches.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import { SEVERITIES, STATUS_NAMES } from '../../domain/shared/statuses-and-severities.ts';
import { vulnerabilityList } from '../../domain/vulnerabilities/vulnerability-list.ts';
import { filterBodySchema } from '../../http/lists/filter-parameters.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { nameSchema, nullable } from '../../http/schemas.ts';
import { VULNERABILITY_FILTER_DESCRIPTIONS } from './list-vulnerabilities.ts';
import { draftField } from './vulnerability-fields.ts';
import { V1_ACCESS } from '../v1-params.ts';
import { markdownSchema } from '../common-schemas.ts';
import { TAG_FIELDS, toTagsInput } from './tag-fields.ts';
import { formatSize } from '../../lib/format-size.ts';

const MAX_TAGS = 1_000;
const MAX_IDS_RETURNED = 1_000;
const RowIdSchema = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [1] });

const FILTER_BODY = filterBodySchema(
  vulnerabilityList.filters,
  {
    ...VULNERABILITY_FILTER_DESCRIPTIONS,
    organizationUid: 'Return only vulnerabilities of these organizations. For staff.',
  },
  { title: 'Vulnerability filter' },
);

const SetFieldsSchema = Type.Object(
  {
    status_id: Type.Optional(
      Type.Integer({
        minimum: Math.min(...STATUS_NAMES.keys()),
        maximum: Math.max(...STATUS_NAMES.keys()),
        description: 'The id of a status. Operation 17 lists the statuses.',
        examples: [2],
      }),
    ),
    severity: Type.Optional(Type.Enum([...SEVERITIES], { type: 'string' })),
    assignee_id: Type.Optional(
      nullable(
        Type.Integer({
          maximum: Number.MAX_SAFE_INTEGER,
          minimum: 1,
          description:
            'The id of a user with access to the assessment of each vulnerability, or `null` to remove the assignee. Client users can name staff only if they are assigned to their organization or have worked for it.',
        }),
      ),
    ),
    due_on: Type.Optional(
      nullable(
        Type.String({
          format: 'date',
          maxLength: 10,
          description: 'The due date, or `null` to remove it.',
          examples: ['2026-12-24'],
        }),
      ),
    ),
    draft: draftField('`false` publishes drafts. What is published never becomes a draft again.'),
    ...TAG_FIELDS,
    add_tags: Type.Optional(
      Type.Array(nameSchema('triaged'), {
        maxItems: MAX_TAGS,
        description:
          'Tag names to add. Tags that do not exist are created. Cannot be combined with `tags` and `tag_list`.',
      }),
    ),
    remove_tags: Type.Optional(
      Type.Array(nameSchema('regression'), {
        maxItems: MAX_TAGS,
        description: 'Tag names to remove. Cannot be combined with `tags` and `tag_list`.',
      }),
    ),
  },
  {
    title: 'Change of each vulnerability',
    additionalProperties: false,
    minProperties: 1,
    examples: [{ status_id: 2, add_tags: ['triaged'] }],
  },
);

const BulkUpdateSchema = Type.Object(
  {
    ids: Type.Optional(
      Type.Array(RowIdSchema, {
        minItems: 1,
        maxItems: MAX_BULK_UPDATE,
        description: 'The ids of the vulnerabilities to change. Use either `ids` or `filter`.',
      }),
    ),
    filter: Type.Optional(FILTER_BODY.schema),
    set: Type.Optional(SetFieldsSchema),
    comment: Type.Optional(markdownSchema('Seen in the weekly triage.')),
    dry_run: Type.Optional(Type.Boolean({ description: 'Report what would change without changing it.' })),
    expected_count: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'The number of vulnerabilities expected to match. Returns 409 if another number matches.',
      }),
    ),
    undo: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'The X-Request-Id of a bulk update that the caller made in the last hour. Restores the previous values that were not changed since, except tags that were deleted and assignees who lost access. Cannot be combined with other properties.',
        examples: ['c5b1f7de-6c0e-4c1c-9e2d-3f5a8d7b9a10'],
      }),
    ),
  },
  {
    title: 'Change of many vulnerabilities',
    examples: [{ ids: [1], set: { status_id: 2, add_tags: ['triaged'] }, dry_run: true }],
  },
);

const BulkUpdateResultSchema = Type.Object(
  {
    matched_count: Type.Integer({ minimum: 0 }),
    updated_count: Type.Integer({
      minimum: 0,
      description: 'The number of matching vulnerabilities that were changed, or would be.',
    }),
    ids: Type.Array(Type.Integer(), {
      maxItems: MAX_IDS_RETURNED,
      description: 'The ids of the first of these vulnerabilities.',
    }),
    dry_run: Type.Boolean(),
    truncated: Type.Boolean({
      description: `Whether \`ids\` is incomplete. It has at most ${MAX_IDS_RETURNED} entries.`,
    }),
    kept_count: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'For an undo: the number of vulnerabilities that were not restored, because they were changed since or no longer exist.',
      }),
    ),
  },
  { title: 'Changed vulnerabilities' },
);

const bulkUpdateVulnerabilitiesOperation = ({ clock, db }: Context) =>
  operation({
    id: 'bulkUpdateVulnerabilities',
    number: 30,
    summary: 'Update vulnerabilities in bulk',
    description: `Changes up to ${MAX_BULK_UPDATE} vulnerabilities, selected by \`ids\` or by \`filter\`, whose members are the filters of operation 15. If one cannot be changed, none is. Vulnerabilities times named tags are at most ${MAX_BULK_TAG_PAIRS}, tags put on and taken off ${MAX_BULK_TAG_CHANGES}, and all comments together ${formatSize(MAX_BULK_COMMENT_BYTES)} (413). With \`undo\`, restores the values before an earlier bulk update.`,
    method: 'POST',
    path: '/vulnerabilities/bulk_update',
    access: V1_ACCESS,
    body: BulkUpdateSchema,
    inputs: {
      dryRun: 'dry_run',
      expectedCount: 'expected_count',
      'set.statusId': 'set.status_id',
      'set.assigneeId': 'set.assignee_id',
      'set.dueOn': 'set.due_on',
      'set.draft': 'set.draft',
      'set.tagIds': 'set.tags',
      'set.tagNames': 'set.tag_list',
      'set.addTags': 'set.add_tags',
      'set.removeTags': 'set.remove_tags',
    },
    responses: {
      200: {
        description: 'The changes; for a dry run, those that would be made.',
        schema: BulkUpdateResultSchema,
      },
    },
    idempotency: true,
    async handler({ abortState, caller, writeOnce, body }) {
      const { ids, filter, set, comment, dry_run: dryRun, expected_count: expectedCount, undo } = body;
      const parsedFilter = filter && FILTER_BODY.parse(filter, 'filter');
      await waitForSearchIndex(() => countUnsearchable(db.read, caller, parsedFilter));
      const listContext = { db: db.abortableRead(abortState), caller, now: clock() };
      const prepared = await prepareBulkUpdate(listContext, {
        ids,
        filter: parsedFilter,
        comment,
        dryRun,
        expectedCount,
        undo,
        set: set && {
          statusId: set.status_id,
          severity: set.severity,
          assigneeId: set.assignee_id,
          dueOn: set.due_on,
          draft: set.draft,
          ...toTagsInput(set),
          addTags: set.add_tags,
          removeTags: set.remove_tags,
        },
      });
      return writeOnce(
        async (tx) => {
          const by = { actor: caller, now: clock() };
          return toBulkUpdateResult(await bulkUpdateVulnerabilities(tx, by, prepared), dryRun ?? false);
        },
        { large: dryRun !== true },
      );
    },
  });

function toBulkUpdateResult({ matched, changed, kept }: BulkUpdateResult, dryRun: boolean) {
  return {
    matched_count: matched,
    updated_count: changed.length,
    ids: changed.slice(0, MAX_IDS_RETURNED),
    dry_run: dryRun,
    truncated: changed.length > MAX_IDS_RETURNED,
    ...(kept === undefined ? {} : { kept_count: kept }),
  };
}

export default operationsOf('v1', [bulkUpdateVulnerabilitiesOperation]);

/** Milliseconds between checks of the search index, and the timeout of all checks. */
const [POLL_INTERVAL, MAX_WAIT] = [100, 5_000];

/**
 * Waits until a search finds every vulnerability of the imports that have ended, so that a bulk update by a search
 * misses none.
 * @param count returns the number of vulnerabilities that a search would miss
 * @param maxWait milliseconds
 * @throws DomainError `search-index-behind` after `maxWait`
 */
export async function waitForSearchIndex(count: () => Promise<number>, maxWait = MAX_WAIT): Promise<void> {
  for (let waited = 0; ; waited += POLL_INTERVAL) {
    const remaining = await count();
    if (remaining === 0) return;
    if (waited >= maxWait) throw new DomainError('search-index-behind', { count: remaining });
    await delay(POLL_INTERVAL);
  }
}
