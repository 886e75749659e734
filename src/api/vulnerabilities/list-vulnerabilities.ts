import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { PHASES, SEVERITIES } from '../../domain/vulnerabilities/statuses-and-severities.ts';
import { vulnerabilityList } from '../../domain/vulnerabilities/vulnerability-list.ts';
import { summarizeVulnerabilities } from '../../domain/vulnerabilities/vulnerability-summary.ts';
import type { Chosen } from '../../domain/lists/filters.ts';
import { filterParameters, LIST_STYLES, readFilters } from '../../http/lists/parameters.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { V1_ACCESS } from '../v1-params.ts';
import { Day, wholeVulnerabilityBody, WholeVulnerabilityBody } from './vulnerability-schema.ts';

const collection = '/vulnerabilities';

/** What is said of the filters wherever they may be chosen. */
export const VULNERABILITY_FILTERS = {
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

const declareListVulnerabilities = (context: Context) =>
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
      ...VULNERABILITY_FILTERS,
      includeAttachments: 'False: `attachments` is empty. True unless told.',
    },
    sorts: ['resolvedAt', 'updatedAt', 'severity', 'cvssScore', 'statusId', 'title', 'dueOn'],
    usualSort: { order: 'resolvedAt' },
    fields: { always: 'id' },
    schema: WholeVulnerabilityBody,
    row: (vulnerability) => wholeVulnerabilityBody(vulnerability, context),
    download: { action: 'vulnerability.export', filename: 'vulnerabilities' },
  });

const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description === undefined ? {} : { description }) });
const counts = <N extends string>(names: readonly N[], title: string) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, count()])) as Record<N, Type.TInteger>, {
    title,
  });

const SummaryBody = Type.Object(
  {
    by_severity: counts(SEVERITIES, 'Vulnerabilities by severity'),
    by_phase: counts(PHASES, 'Vulnerabilities by phase'),
    open_by_age: Type.Object(
      {
        days_7: count('Reported in the last 7 days.'),
        days_30: count('Before that, in the last 30.'),
        days_90: count('Before that, in the last 90.'),
        older: count(),
      },
      { title: 'Open vulnerabilities by age' },
    ),
    days: Type.Array(
      Type.Object({ date: Day, opened: count(), closed: count() }, { title: 'Vulnerabilities of a day' }),
      { maxItems: 90, description: 'The last 90 days, the oldest first (UTC).' },
    ),
    retests_requested: count(),
  },
  { title: 'Summary of vulnerabilities' },
);

const declareSummarizeVulnerabilities = ({ db, clock }: Context) => {
  const parameters = filterParameters(LIST_STYLES.v1, vulnerabilityList.filters, {
    ...VULNERABILITY_FILTERS,
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
    answers: { 200: { description: 'The counts of all that match.', schema: SummaryBody } },
    async handler({ caller, query }) {
      const chosen = readFilters(parameters, query) as Chosen<typeof vulnerabilityList.filters>;
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

export const LISTED_VULNERABILITY_OPERATIONS = [declareListVulnerabilities, declareSummarizeVulnerabilities];
