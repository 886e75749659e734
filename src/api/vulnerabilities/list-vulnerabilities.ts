import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { SPREADSHEET_COLUMNS, toSpreadsheetCells } from './spreadsheet.ts';
import { PHASES, SEVERITIES } from '../../domain/shared/statuses-and-severities.ts';
import { requireDraftRight } from '../../domain/vulnerabilities/drafts.ts';
import { vulnerabilityList } from '../../domain/vulnerabilities/vulnerability-list.ts';
import { summarizeVulnerabilities } from '../../domain/vulnerabilities/vulnerability-summary.ts';
import type { FilterInput } from '../../domain/lists/filters.ts';
import { filterParameters, parseFilters } from '../../http/lists/filter-parameters.ts';
import { PAGINATION_STYLES } from '../../http/lists/parameters.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { V1_ACCESS } from '../v1-params.ts';
import {
  DateSchema,
  toVulnerabilityBody,
  VULNERABILITY_FIELD_LIST,
  VulnerabilitySchema,
} from './vulnerability-schema.ts';

const collection = '/vulnerabilities';

/** Descriptions of the filters, for every operation that has them. */
export const VULNERABILITY_FILTER_DESCRIPTIONS = {
  search:
    'Return only vulnerabilities that contain this text in their title, description, CVE or CWE ids, tag names, the uid or name of their assessment, or the name or location of an asset. `17` and `#17` also find the vulnerability with this id. Case is ignored, and a hyphen equals a space. One or two characters are not searched for in descriptions.',
  statusId: 'Return only vulnerabilities with one of these statuses.',
  phase: 'Return only vulnerabilities whose status is in one of these phases.',
  severity: 'Return only vulnerabilities with one of these severities.',
  tagId: 'Return only vulnerabilities with one of these tags, by id.',
  tag: 'Return only vulnerabilities with one of these tags, by name.',
  assessmentId: 'Return only vulnerabilities of these assessments, by uid.',
  assessmentGroupId: 'Return only vulnerabilities of assessments in these groups.',
  assetUid: 'Return only vulnerabilities of these assets.',
  source: 'Return only vulnerabilities from these sources: `manual`, or the name of a scanner.',
  cve: 'Return only vulnerabilities with one of these CVEs.',
  importId: 'Return only vulnerabilities created by these imports.',
  gone: 'Return only vulnerabilities that the latest complete report of their scanner no longer contains and that were not seen since, or exclude them.',
  goneImportId:
    'Return only vulnerabilities that the reports of these imports no longer contain and that were not seen since.',
  createdBy: 'Return only vulnerabilities reported by these users.',
  assigneeId: 'Return only vulnerabilities assigned to these users.',
  dueUntil: 'Return only vulnerabilities due before this date.',
  retest: 'Return only vulnerabilities whose latest retest has one of these statuses.',
  draft: 'For staff: return only drafts, or exclude them.',
  id: 'Return only vulnerabilities with these ids.',
  updatedSince: 'Return only vulnerabilities updated at or after this time.',
  updatedWithin: 'Return only vulnerabilities updated within this many seconds.',
  createdSince: 'Return only vulnerabilities reported at or after this time.',
  createdUntil: 'Return only vulnerabilities reported before this time.',
};

const listVulnerabilitiesOperation = (context: Context) =>
  listOperation(context, {
    id: 'listVulnerabilities',
    number: 15,
    summary: 'List vulnerabilities',
    description: 'Lists the vulnerabilities visible to the caller, in the order in which they were reported.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: vulnerabilityList,
    filters: {
      ...VULNERABILITY_FILTER_DESCRIPTIONS,
      includeAttachments: 'Include `attachments`. If false, the array is empty.',
    },
    scope({ caller }, _params, { draft }) {
      requireDraftRight(caller, draft);
      return {};
    },
    sorts: ['resolvedAt', 'updatedAt', 'severity', 'cvssScore', 'statusId', 'title', 'dueOn'],
    defaultSort: { sort: 'resolvedAt' },
    fields: { always: 'id' },
    schema: VulnerabilitySchema,
    columns: VULNERABILITY_FIELD_LIST,
    toRow: (vulnerability) => toVulnerabilityBody(vulnerability, context),
    download: { action: 'vulnerability.export', filename: 'vulnerabilities' },
    spreadsheet: { columns: SPREADSHEET_COLUMNS, toCells: toSpreadsheetCells },
  });

const countSchema = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description === undefined ? {} : { description }) });
const countsSchema = <N extends string>(names: readonly N[], title: string) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, countSchema()])) as Record<N, Type.TInteger>, {
    title,
  });

const SummarySchema = Type.Object(
  {
    by_severity: countsSchema(SEVERITIES, 'Vulnerabilities by severity'),
    by_phase: countsSchema(PHASES, 'Vulnerabilities by phase'),
    open_by_age: Type.Object(
      {
        days_7: countSchema('Reported in the last 7 days.'),
        days_30: countSchema('Reported 8 to 30 days ago.'),
        days_90: countSchema('Reported 31 to 90 days ago.'),
        older: countSchema(),
      },
      { title: 'Open vulnerabilities by age' },
    ),
    days: Type.Array(
      Type.Object(
        { date: DateSchema, opened: countSchema(), closed: countSchema() },
        { title: 'Vulnerabilities of a day' },
      ),
      { maxItems: 90, description: 'The last 90 days (UTC), oldest first.' },
    ),
    retests_requested: countSchema(),
  },
  { title: 'Summary of vulnerabilities' },
);

const summarizeVulnerabilitiesOperation = ({ db, clock }: Context) => {
  const parameters = filterParameters(PAGINATION_STYLES.v1, vulnerabilityList.filters, {
    ...VULNERABILITY_FILTER_DESCRIPTIONS,
    organizationUid: 'Return only vulnerabilities of these organizations. For staff.',
  });
  return operation({
    id: 'summarizeVulnerabilities',
    number: 83,
    summary: 'Summarize vulnerabilities',
    description: 'Counts the vulnerabilities visible to the caller by severity, phase, age and day.',
    method: 'GET',
    path: `${collection}/summary`,
    access: V1_ACCESS,
    query: Type.Object(
      Object.fromEntries([...parameters].map(([name, { schema }]) => [name, Type.Optional(schema)])),
    ),
    responses: { 200: { description: 'The counts of all matching vulnerabilities.', schema: SummarySchema } },
    async handler({ abortState, caller, query }) {
      const filters = parseFilters(parameters, query) as FilterInput<typeof vulnerabilityList.filters>;
      requireDraftRight(caller, filters.draft);
      const summary = await summarizeVulnerabilities(
        { db: db.abortableRead(abortState), caller, now: clock() },
        filters,
      );
      const { days7, days30, days90, older } = summary.openByAge;
      return {
        by_severity: summary.bySeverity,
        by_phase: summary.byPhase,
        open_by_age: { days_7: days7, days_30: days30, days_90: days90, older },
        days: summary.days,
        retests_requested: summary.retestsRequested,
      };
    },
  });
};

export default operationsOf('v1', [listVulnerabilitiesOperation, summarizeVulnerabilitiesOperation]);
