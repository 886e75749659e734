import { expect, it } from 'vitest';
import { type Caller, operatorCaller } from '../../src/auth/callers.ts';
import { seededRandom } from '../../src/demo/random.ts';
import { publishDrafts } from '../../src/domain/vulnerabilities/drafts.ts';
import { importDirectly, undoDirectly } from '../harness/direct-imports.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { nucleiReport } from '../harness/nuclei.ts';
import { useSharedServer } from '../harness/server.ts';
import { readAndRecount } from '../harness/vulnerability-counters.ts';

/**
 * Random sequences of imports, undos and publications by staff and client users. Client users never see a draft, and
 * counters equal the rows.
 */

const server = await useSharedServer();
const { db } = server.context;

const DAY = 86_400_000;
/** Recent, as counters by day end after 100 days. */
const START = Math.floor(Date.now() / DAY - 130) * DAY;
const RULES = ['a', 'b', 'c', 'd'];
const STEPS = 24;

it.each(Array.from({ length: 10 }, (_, index) => index + 1))(
  'Drafts stay hidden until they are published, and stay published then (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const fixtures = createFixtures(server);
    const organization = await fixtures.organization();
    const assessment = await fixtures.assessment(organization.uid);
    const admin = await fixtures.user({ organization: organization.uid, admin: true });
    const staff = operatorCaller('staff');
    const customer: Caller = { ...staff, kind: 'user', staff: false, organizationId: organization.id };
    const place = { organizationId: organization.id, assessment };
    const rowsOf = () =>
      db.read
        .selectFrom('vulnerabilities')
        .select(['id', 'title', 'draft', 'import_id', 'published_import_id'])
        .where('assessment_id', '=', assessment.id)
        .orderBy('id')
        .execute();
    const shownIds = async () => (await rowsOf()).flatMap(({ id, draft }) => (draft === 0 ? [id] : []));
    const get = async (path: string) => (await server.request('GET', path, { token: admin.token })).body;
    const undoable: { id: number; by: Caller }[] = [];
    const published = new Set<number>();

    for (let step = 1; step <= STEPS; step += 1) {
      const at = START + 100 * DAY + step;
      const choice = random.between(0, 99);
      if (choice < 20 && undoable.length > 0) {
        const [undone] = undoable.splice(random.between(0, undoable.length - 1), 1);
        if (undone !== undefined) await undoDirectly(db, { id: undone.id, at }, undone.by);
      } else if (choice < 35) {
        const drafts = (await rowsOf()).filter(({ draft }) => draft === 1).map(({ id }) => id);
        await db.write((tx) => publishDrafts(tx, { actor: staff, now: at }, drafts.slice(0, 1)));
      } else {
        const by = choice < 65 ? staff : customer;
        const rules = RULES.filter(() => random.happens(60));
        if (rules.length === 0) continue;
        const name = by === staff ? `Staff ${step}` : `Customer ${step}`;
        const severity = random.pick(['low', 'medium', 'high']);
        const scannedAt = START + random.between(0, 30) * DAY;
        const report = nucleiReport(rules.map((rule) => ({ rule, name, severity, at: scannedAt })));
        const before = (await shownIds()).length;
        const isDraft = by === staff && random.happens(75);
        const { id, result } = await importDirectly(
          db,
          place,
          {
            format: 'nuclei',
            report,
            at,
            options: { draft: isDraft, minimumSeverity: random.happens(25) ? 'High' : null },
          },
          by,
        );
        undoable.push({ id, by });
        // Drafts that the customer's import published count as created.
        if (by === customer) expect(result.findings_created).toBe((await shownIds()).length - before);
      }

      const rows = await rowsOf();
      // An undo deletes what nobody else has found; a later report then makes it anew.
      for (const id of published) if (rows.every((row) => row.id !== id)) published.delete(id);
      for (const { id, draft } of rows) {
        if (published.has(id)) expect({ id, draft }).toEqual({ id, draft: 0 });
        if (draft === 0) published.add(id);
      }
      const listed: any[] = await get('/v1/vulnerabilities?page[size]=200');
      expect(listed.map(({ id }) => id).sort()).toEqual((await shownIds()).sort());
      const { counters, rows: recounted } = await readAndRecount(db, organization.id, Date.now());
      expect(counters).toEqual(recounted);
    }
    // A draft that a customer published never shows what staff wrote while it was one.
    for (const { id, published_import_id: importId } of await rowsOf()) {
      if (importId === null) continue;
      const timeline: any[] = await get(`/v1/vulnerabilities/${id}/timeline`);
      expect(timeline[0]?.kind).toBe('created');
    }
  },
);
