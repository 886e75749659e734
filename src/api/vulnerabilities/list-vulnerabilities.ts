import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { PHASES, SEVERITIES } from '../../domain/vulnerabilities/statuses-and-severities.ts';
import { vulnerabilityList } from '../../domain/vulnerabilities/vulnerability-list.ts';
import { summarizeVulnerabilities } from '../../domain/vulnerabilities/vulnerability-summary.ts';
import type { FilterInput } from '../../domain/lists/filters.ts';
import { filterParameters, PAGINATION_STYLES, parseFilters } from '../../http/lists/parameters.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { V1_ACCESS } from '../v1-params.ts';
import { DateSchema, toVulnerabilityBody, VulnerabilitySchema } from './vulnerability-schema.ts';

const collection = '/vulnerabilities';

/** What is said of the filters wherever they may be chosen. */
export const VULNERABILITY_FILTER_DESCRIPTIONS = {
  search:
    'A part of the title, the description, the name of a tag, or the uid or name of the assessment, without regard to case. One or two characters are not looked for in descriptions.',
  statusId: 'Of these statuses.',
  phase: 'Of the statuses of these phases.',
  severity: 'Of these severities.',
  tagId: 'With one of these tags, by id.',
  tag: 'With one of these tags, by name.',
  assessmentId: 'Of these assessments, by uid.',
  assessmentGroupId: 'Of the assessments of these groups.',
  assetUid: 'Of these assets.',
  source: '`manual`, or the scanner that found it.',
  cve: 'With one of these CVEs.',
  importId: 'Made by these imports.',
  gone: 'Whether the newest whole report of its scanner no longer had it, and none has seen it since.',
  goneImportId: 'Gone by the reports of these imports, and not seen since.',
  createdBy: 'Reported by these users.',
  assigneeId: 'Assigned to these users.',
  dueUntil: 'To be fixed before this day.',
  retest: 'Whose last retest has one of these statuses.',
  id: 'These.',
  updatedSince: 'Changed at this moment or later.',
  updatedWithin: 'Changed in the last so many seconds.',
  createdSince: 'Reported at this moment or later.',
  createdUntil: 'Reported before this moment.',
};

const listVulnerabilitiesOperation = (context: Context) =>
  listOperation(context, {
    id: 'listVulnerabilities',
    number: 15,
    summary: 'List vulnerabilities',
    description: 'The vulnerabilities that you reach, in the order in which they were reported.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: vulnerabilityList,
    filters: {
      ...VULNERABILITY_FILTER_DESCRIPTIONS,
      includeAttachments: 'False: `attachments` is empty. True unless told.',
    },
    sorts: ['resolvedAt', 'updatedAt', 'severity', 'cvssScore', 'statusId', 'title', 'dueOn'],
    defaultSort: { sort: 'resolvedAt' },
    fields: { always: 'id' },
    schema: VulnerabilitySchema,
    toRow: (vulnerability) => toVulnerabilityBody(vulnerability, context),
    download: { action: 'vulnerability.export', filename: 'vulnerabilities' },
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
        days_30: countSchema('Before that, in the last 30.'),
        days_90: countSchema('Before that, in the last 90.'),
        older: countSchema(),
      },
      { title: 'Open vulnerabilities by age' },
    ),
    days: Type.Array(
      Type.Object(
        { date: DateSchema, opened: countSchema(), closed: countSchema() },
        { title: 'Vulnerabilities of a day' },
      ),
      { maxItems: 90, description: 'The last 90 days, the oldest first (UTC).' },
    ),
    retests_requested: countSchema(),
  },
  { title: 'Summary of vulnerabilities' },
);

const summarizeVulnerabilitiesOperation = ({ db, clock }: Context) => {
  const parameters = filterParameters(PAGINATION_STYLES.v1, vulnerabilityList.filters, {
    ...VULNERABILITY_FILTER_DESCRIPTIONS,
    organizationUid: 'Of these organizations; for staff, who reach several.',
  });
  return operation({
    id: 'summarizeVulnerabilities',
    number: 83,
    summary: 'Summarize vulnerabilities',
    description: 'How many of the vulnerabilities that you reach there are, by what matters.',
    method: 'GET',
    path: `${collection}/summary`,
    access: V1_ACCESS,
    query: Type.Object(
      Object.fromEntries([...parameters].map(([name, { schema }]) => [name, Type.Optional(schema)])),
    ),
    responses: { 200: { description: 'The counts of all that match.', schema: SummarySchema } },
    async handler({ caller, query }) {
      const chosen = parseFilters(parameters, query) as FilterInput<typeof vulnerabilityList.filters>;
      const summary = await summarizeVulnerabilities({ db: db.readLong, caller, now: clock() }, chosen);
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

export const LIST_VULNERABILITIES_OPERATIONS = [
  listVulnerabilitiesOperation,
  summarizeVulnerabilitiesOperation,
];
