import {
  LIST,
  openFinding,
  openHome,
  openList,
  pick,
  refreshCounts,
  refreshFinding,
  type Visitor,
} from './mix-pages.ts';
import { pathWith, type Tab } from './mix-tab.ts';

type Action = (tab: Tab, visitor: Visitor, reports: readonly Buffer[]) => Promise<unknown>;

const BULK = 20;
const FIXED = 5;
const BOUNDARY = 'assay-bench-boundary';

/** Changes one finding, as the console does it: by operation 30 with one id. */
const change = (tab: Tab, id: number, set: object) => tab.write(`${LIST}/bulk_update`, { ids: [id], set });

const changeStatus: Action = async (tab, visitor) => {
  const finding = await openFinding(tab, visitor);
  if (finding === undefined) return;
  const { id, status_id: from, may } = finding;
  if (!may.triage && !(may.comment && from < FIXED)) return;
  const statuses = may.triage ? [1, 2, 3, 4, FIXED] : [1, 2, 3, 4];
  await change(tab, id, { status_id: pick(visitor, statuses) });
  await refreshFinding(tab, id);
};

const comment: Action = async (tab, visitor) => {
  const finding = await openFinding(tab, visitor);
  if (finding?.may.comment !== true) return;
  const text = 'The fix is on the test system since this morning. Please have a look when you can.';
  await tab.write(`${LIST}/${finding.id}/comments`, { text, internal: false });
  await refreshFinding(tab, finding.id);
};

const addTag: Action = async (tab, visitor) => {
  const finding = await openFinding(tab, visitor);
  if (finding?.may.triage !== true) return;
  const name = `tag ${Math.floor(visitor.random() * 20)}`;
  await tab.read('/v1/vulnerability_tags', { 'filter[search]': name, 'page[size]': 20 });
  await change(tab, finding.id, { add_tags: [name] });
  await refreshFinding(tab, finding.id);
};

const assign: Action = async (tab, visitor) => {
  const finding = await openFinding(tab, visitor);
  if (finding?.may.triage !== true || visitor.person.kind === 'staff') return;
  const assignee = visitor.random() < 0.8 ? visitor.userId : null;
  await change(tab, finding.id, { assignee_id: assignee });
  await refreshFinding(tab, finding.id);
};

/** Selects the first rows of a list that its reader may triage. */
const bulkUpdate: Action = async (tab, visitor) => {
  await openList(tab, visitor);
  const ids = visitor.rows
    .filter(({ assessment_id: uid }) => visitor.reportable.includes(uid))
    .slice(0, BULK)
    .map(({ id }) => id);
  if (ids.length === 0) return;
  await tab.write(`${LIST}/bulk_update`, { ids, set: { status_id: pick(visitor, [1, 2, 3]) } }, 'bulk');
  await refreshCounts(tab);
};

const create: Action = async (tab, visitor) => {
  const assessment = pick(visitor, visitor.reportable);
  if (assessment === undefined) return;
  const created = await tab.write(LIST, {
    assessment_id: assessment,
    title: `Stored input in the profile of a customer ${Math.floor(visitor.random() * 1e6)}`,
    severity: pick(visitor, ['Critical', 'High', 'Medium', 'Low']),
    description: 'The name of a customer is shown to the staff of the shop without encoding. '.repeat(8),
    recommended_fix: 'Encode what customers enter when it is shown.',
  });
  await refreshFinding(tab, (created as { id: number }).id);
};

/** Uploads a report and follows its events to the end, then looks at the result. */
const importReport: Action = async (tab, visitor, reports) => {
  const assessment = pick(visitor, visitor.reportable);
  const report = pick(visitor, reports);
  if (assessment === undefined || report === undefined) return;
  const id = await tab.timed('import', '/v1/imports', async () => {
    const body = { type: `multipart/form-data; boundary=${BOUNDARY}`, content: formOf(assessment, report) };
    const upload = await tab.send('POST', '/v1/imports', { body });
    const job = JSON.parse(upload.text()) as { id: number };
    await tab.send('GET', `/v1/imports/${job.id}/events`, { accept: 'text/event-stream' });
    return job.id;
  });
  await Promise.all([
    tab.read(`/v1/imports/${id}`),
    tab.read(LIST, {
      'filter[import_id][]': [id],
      sort: '-severity',
      fields: 'id,title,severity,status_id',
      'page[size]': 20,
    }),
    refreshCounts(tab),
  ]);
};

function formOf(assessment: string, report: Buffer): Buffer {
  const field = (name: string, value: string) =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const head = `${field('format', 'nuclei')}${field('assessment_id', assessment)}${field('when_gone', 'keep')}--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="report.jsonl"\r\ncontent-type: application/octet-stream\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), report, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}

const exportCsv: Action = (tab) => {
  const path = pathWith(LIST, { 'filter[phase][]': ['new', 'open'], layout: 'spreadsheet' });
  return tab.timed('export', path, () => tab.send('GET', path, { accept: 'text/csv' }));
};

/** How often each action is drawn, of all. */
const WEIGHTS: readonly (readonly [weight: number, action: Action])[] = [
  [50, openHome],
  [300, openList],
  [300, openFinding],
  [90, changeStatus],
  [70, comment],
  [35, addTag],
  [35, assign],
  [30, bulkUpdate],
  [30, create],
  [5, importReport],
  [5, exportCsv],
];
const TOTAL = WEIGHTS.reduce((sum, [weight]) => sum + weight, 0);

/** Runs the next action of a person. @throws UnexpectedResponse */
export async function act(tab: Tab, visitor: Visitor, reports: readonly Buffer[]): Promise<void> {
  let draw = visitor.random() * TOTAL;
  const [, action = openHome] = WEIGHTS.find(([weight]) => (draw -= weight) < 0) ?? [];
  await action(tab, visitor, reports);
}
