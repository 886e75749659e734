import { cliChangeContext } from '../auth/callers.ts';
import { assessmentList, type AssessmentView } from '../domain/assessments/assessment-list.ts';
import { createAssessment } from '../domain/assessments/create-assessment.ts';
import { readBatches } from '../domain/lists/read-batches.ts';
import { type CommonOptions, type LocalCommand } from './command.ts';
import { withContext } from './with-context.ts';
import { requireOrganization } from './organization.ts';
import { keyValueLines, printJson, printLines, table } from './print.ts';
import { programName } from './streams.ts';

interface CreateOptions extends CommonOptions {
  organization: string;
  name: string;
}

export const createAssessmentCommand: LocalCommand = {
  usage: 'create [uid]',
  description: 'Create an assessment.',
  notes:
    'UID is 1 to 50 lowercase letters, digits, - and _. It is used in URLs and cannot be changed. If omitted, it is\ngenerated.',
  examples: [['assay assessment create acme-web-2026 --organization acme --name "Web 2026"']],
  addOptions: (command) => {
    command
      .requiredOption('--organization <uid>', 'Select the organization by its uid.')
      .requiredOption('--name <name>', 'Set the name of the assessment.');
  },
  run: (uid: string | undefined, { organization, name, json, ...flags }: CreateOptions) =>
    withContext(flags, async ({ db, clock }) => {
      await requireOrganization(db.read, organization);
      const assessment = await db.write((tx) =>
        createAssessment(tx, cliChangeContext(clock()), { uid, name, organization }),
      );
      const created = toRow(assessment);
      if (json === true) return printJson(created);
      printLines(...keyValueLines({ ...created }));
    }),
};

export const listAssessmentsCommand: LocalCommand = {
  usage: 'list',
  description: 'List assessments.',
  examples: [['assay assessment list']],
  run: ({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db, clock }) => {
      const { actor: caller, now } = cliChangeContext(clock());
      const request = { filters: {}, sort: 'createdAt', descending: false } as const;
      const assessments = [];
      for await (const { items } of readBatches(
        assessmentList,
        { db: db.read, caller, now },
        request,
        0,
        Infinity,
      ))
        assessments.push(...items.map(toRow));
      if (json === true) return printJson(assessments);
      printLines(
        ...table(
          assessments,
          {
            ID: (row) => row.id,
            UID: (row) => row.uid,
            ORGANIZATION: (row) => row.organization,
            NAME: (row) => row.name,
          },
          `No assessments yet. Run "${programName()} assessment create" to create one.`,
        ),
      );
    }),
};

function toRow({ id, uid, name, organizationUid: organization }: AssessmentView) {
  return { id, uid, name, organization };
}
