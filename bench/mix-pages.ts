import { nextPageQuery } from '../client/src/pagination.ts';
import type { Person } from './mix-data.ts';
import type { Query, Tab } from './mix-tab.ts';

/** What a browser remembers of its person's last pages. */
export interface Visitor {
  person: Person;
  /** A number from 0 to below 1, the same in every run. */
  random: () => number;
  userId: number;
  /** The uids of the assessments in which they may report and triage, and of those that they see. */
  reportable: string[];
  assessments: string[];
  rows: Row[];
}

export interface Row {
  id: number;
  assessment_id: string;
}

interface Assessment {
  uid: string;
  open_vulnerability_count: number;
  permissions?: { report: boolean };
}

export const LIST = '/v1/vulnerabilities';
const PAGE_SIZE = 200;
const DAY = 86_400_000;
const SEVERITIES = ['Critical', 'High', 'Medium', 'Low', 'Informational'];
const OPEN: Query = { 'filter[phase][]': ['new', 'open'] };
/** As in console/src/queries/vulnerabilities.ts and home.ts. */
const ROW_FIELDS =
  'id,title,severity,status_id,status,vulnerability_status,listing,assessment_id,organization_profile_id,assignee,due_on,source,tags,comment_count,cvss_score,cve_ids,resolved_at,updated_at,gone_at,reported_by_staff,draft,outside_scope';
const SECTION_FIELDS =
  'id,title,severity,status_id,vulnerability_status,assessment_id,organization_profile_id,assignee,created_by,created_at,updated_at,due_on,gone_at,reported_by_staff';
const SORTS = [
  '-resolved_at',
  'resolved_at',
  '-updated_at',
  '-severity',
  'status_id',
  '-cvss_score',
  'title',
  'due_on',
];
const WORDS = ['outdated', 'component 17', 'search form', 'cve-2024', 'host3'];
/** Assessments and organizations that Home compares. */
const COMPARED = 8;
const COMPARED_ORGANIZATIONS = 7;

export const pick = <Item>({ random }: Pick<Visitor, 'random'>, items: readonly Item[]): Item | undefined =>
  items[Math.floor(random() * items.length)];

const dayFrom = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);
const count = (tab: Tab, filter: Query) => tab.read(LIST, { ...filter, fields: 'id', 'page[size]': 1 });
const totalOf = (answer: Awaited<ReturnType<typeof count>>) =>
  (JSON.parse(answer.headers['x-pagination'] ?? '{}') as { total_entries?: number }).total_entries ?? 0;
const activeAssessments = (tab: Tab) =>
  tab.read('/v1/assessments', {
    'filter[state][]': ['active'],
    sort: '-created_at',
    'page[size]': PAGE_SIZE,
  });

/** The numbers that the navigation reads again after changes. */
const readCounts = (tab: Tab) => Promise.all([count(tab, OPEN), activeAssessments(tab)]);

/** Requests the signed-in user and their permissions. */
export async function identify(tab: Tab, visitor: Visitor): Promise<void> {
  const isMember = visitor.person.kind === 'member';
  const [{ data: user }, { data: assessments }] = await Promise.all([
    tab.read('/v1/users/whoami'),
    tab.read('/v1/assessments', {
      ...(isMember ? { include_permissions: true } : {}),
      'page[size]': PAGE_SIZE,
      'page[after]': '',
    }),
  ]);
  const permitted = assessments as Assessment[];
  visitor.userId = (user as { id: number }).id;
  visitor.assessments = permitted.map(({ uid }) => uid);
  visitor.reportable = permitted
    .filter(({ permissions }) => !isMember || permissions?.report === true)
    .map(({ uid }) => uid);
}

/** Opens the console: who it is, the navigation and Home, with its comparison at the end. */
export async function openHome(tab: Tab, visitor: Visitor): Promise<void> {
  const { kind } = visitor.person;
  await identify(tab, visitor);
  const hours = { 'filter[since]': new Date(Date.now() - 14 * DAY).toISOString(), 'page[size]': PAGE_SIZE };
  const [active] = await Promise.all([
    activeAssessments(tab),
    count(tab, OPEN),
    tab.read('/v1/imports', { 'filter[state][]': ['queued', 'running'], 'page[size]': 10 }),
    tab.read('/v1/organizations', { 'page[size]': PAGE_SIZE, 'page[after]': '' }),
    tab.read('/v1/vulnerability_statuses'),
    ...SEVERITIES.map((severity) => tab.read(`${LIST}/summary`, { 'filter[severity][]': [severity] })),
    ...sectionsOf(visitor).map((section) =>
      tab.read(LIST, { ...section, fields: SECTION_FIELDS, 'page[size]': 3 }),
    ),
    tab.read('/v1/imports', { 'filter[state][]': ['failed'], 'filter[dry_run]': false, 'page[size]': 20 }),
    tab.read('/v1/testing_sessions', { 'filter[running]': true, 'page[size]': 10 }),
    ...(kind === 'staff' ? [tab.read('/v1/testing_sessions', hours)] : []),
  ]);
  await compare(tab, visitor, active.data as Assessment[]);
}

function sectionsOf({ person: { kind }, userId }: Visitor): Query[] {
  const overdue = { ...OPEN, 'filter[due_until]': dayFrom(-1), sort: 'due_on' };
  const decisions = [
    { 'filter[status_id][]': [1], sort: '-severity' },
    { 'filter[status_id][]': [2, 3, 4], 'filter[gone]': true },
  ];
  const retested = {
    'filter[retest][]': ['verified', 'failed', 'blocked'],
    'filter[updated_since]': new Date(Date.now() - 7 * DAY).toISOString(),
    sort: '-updated_at',
  };
  const added = { 'filter[created_since]': new Date(Date.now() - DAY).toISOString(), sort: '-resolved_at' };
  if (kind === 'staff')
    return [
      { 'filter[retest][]': ['requested'], sort: 'updated_at' },
      { 'filter[draft]': true, sort: '-updated_at' },
    ];
  if (kind === 'admin') return [overdue, ...decisions, retested, added];
  return [{ ...OPEN, 'filter[assignee_id][]': [userId], sort: 'due_on' }, retested, ...decisions, added];
}

/** The comparison of Home: three requests for each assessment, or for each organization as staff. */
async function compare(tab: Tab, { person }: Visitor, active: readonly Assessment[]): Promise<void> {
  const isStaff = person.kind === 'staff';
  const compared: Query[] = isStaff
    ? Array.from({ length: COMPARED_ORGANIZATIONS }, (_, number) => ({
        'filter[organization_uid][]': [`mix${number}`],
      }))
    : active
        .toSorted((one, other) => other.open_vulnerability_count - one.open_vulnerability_count)
        .slice(0, COMPARED)
        .map(({ uid }) => ({ 'filter[assessment_id][]': [uid] }));
  const fixed = {
    'filter[status_id][]': [5],
    'filter[updated_within]': 7_776_000,
    fields: 'created_at,closed_at',
    'page[size]': PAGE_SIZE,
  };
  const drafts = { 'filter[draft]': true, fields: 'organization_profile_id', 'page[size]': PAGE_SIZE };
  await Promise.all([
    ...compared.flatMap((filter) => [
      tab.read(`${LIST}/summary`, { ...filter, ...(isStaff ? {} : OPEN) }),
      count(tab, { ...filter, ...OPEN, 'filter[due_until]': dayFrom(-1) }),
      tab.read(LIST, { ...filter, ...fixed }),
    ]),
    ...(isStaff ? [tab.read(LIST, drafts)] : []),
  ]);
}

/** Opens the list with its tabs, grouped or not, in some order and with some filter, and sometimes scrolls. */
export async function openList(tab: Tab, visitor: Visitor): Promise<void> {
  const filter = drawFilter(visitor);
  const phase = pick(visitor, [OPEN, OPEN, OPEN, { 'filter[phase][]': ['closed'] }, {}]) ?? OPEN;
  const search = { ...filter, ...phase, 'filter[include_attachments]': false };
  const sort = visitor.random() < 0.5 ? '-resolved_at' : (pick(visitor, SORTS) ?? 'title');
  const isGrouped = visitor.random() < 0.7 && filter['filter[search]'] === undefined;
  const tabs = [OPEN, { 'filter[phase][]': ['closed'] }].map((one) => ({ ...filter, ...one }));
  if (visitor.person.kind === 'staff') tabs.push({ ...filter, 'filter[draft]': true });
  const [rows] = await Promise.all([
    isGrouped ? readGroups(tab, search, sort) : readRows(tab, search, sort, visitor.random() < 0.3),
    ...tabs.map((one) => count(tab, one)),
  ]);
  if (rows.length > 0) visitor.rows = rows;
}

function drawFilter(visitor: Visitor): Query {
  const draw = visitor.random();
  if (draw < 0.5) return {};
  if (draw < 0.6) return { 'filter[search]': pick(visitor, WORDS) ?? '' };
  if (draw < 0.75) return { 'filter[severity][]': [pick(visitor, SEVERITIES) ?? 'High'] };
  if (draw < 0.85) return { 'filter[status_id][]': [1 + Math.floor(visitor.random() * 9)] };
  const assessment = pick(visitor, visitor.assessments);
  return assessment === undefined ? {} : { 'filter[assessment_id][]': [assessment] };
}

async function readPage(tab: Tab, search: Query, sort: string, page: Query) {
  const query = { ...search, sort, fields: ROW_FIELDS, ...page };
  const { data, headers } = await tab.read(LIST, query);
  const response = new Response(null, { headers: { link: headers['link'] ?? '' } });
  const next = nextPageQuery(response, [], { 'page[after]': '' })?.['page[after]'];
  return { data: data as Row[], next };
}

async function readRows(tab: Tab, search: Query, sort: string, scrolls: boolean): Promise<Row[]> {
  const { data, next } = await readPage(tab, search, sort, { 'page[size]': PAGE_SIZE, 'page[after]': '' });
  if (next === undefined) return data;
  const nextPage = { 'page[size]': PAGE_SIZE, 'page[after]': next };
  const [, page] = await Promise.all([
    count(tab, search),
    scrolls ? readPage(tab, search, sort, nextPage) : { data: [] },
  ]);
  return [...data, ...page.data];
}

/** Reads the first rows of the first group while all groups are counted, then the rows that the page lacks. */
async function readGroups(tab: Tab, search: Query, sort: string): Promise<Row[]> {
  const severities = [search['filter[severity][]'] ?? SEVERITIES].flat().map(String);
  const of = (severity: string) => ({ ...search, 'filter[severity][]': [severity] });
  const [first = ''] = severities;
  const [beginning, ...counts] = await Promise.all([
    readPage(tab, of(first), sort, { 'page[size]': PAGE_SIZE, 'page[after]': '' }),
    ...severities.map((severity) => count(tab, of(severity)).then(totalOf)),
  ]);
  let rest = PAGE_SIZE - beginning.data.length;
  const pages: Promise<{ data: Row[] }>[] = [];
  for (const [index, severity] of severities.entries()) {
    const size = Math.min(rest, counts[index] ?? 0);
    if (index === 0 || size <= 0) continue;
    pages.push(readPage(tab, of(severity), sort, { 'page[size]': size, 'page[after]': '' }));
    rest -= size;
  }
  return [...beginning.data, ...(await Promise.all(pages)).flatMap(({ data }) => data)];
}

export interface Finding {
  id: number;
  status_id: number;
  may: { triage: boolean; comment: boolean };
}

/** Opens a finding of the last list with its discussion. */
export async function openFinding(tab: Tab, visitor: Visitor): Promise<Finding | undefined> {
  if (visitor.rows.length === 0) await openList(tab, visitor);
  const row = pick(visitor, visitor.rows);
  return row === undefined ? undefined : readFinding(tab, row.id);
}

async function readFinding(tab: Tab, id: number): Promise<Finding> {
  const path = `${LIST}/${id}`;
  const [{ data }] = await Promise.all([
    tab.read(path),
    tab.read(`${path}/comments`, { 'page[size]': PAGE_SIZE }),
    tab.read(`${path}/timeline`, { 'page[size]': 50, 'page[after]': '', sort: '-at' }),
    tab.read(`${path}/patch_verifications`, { 'page[size]': PAGE_SIZE }),
  ]);
  return data as Finding;
}

/** Reads again what a change of a finding may have changed on its page. */
export const refreshFinding = (tab: Tab, id: number) => Promise.all([readFinding(tab, id), readCounts(tab)]);

/** Reads again what a change of several has changed beside the rows of the list. */
export const refreshCounts = (tab: Tab) => readCounts(tab);
