import type { Command } from 'commander';
import { cliAttribution } from '../auth/callers.ts';
import { createAssessmentUnchecked, listAssessments } from '../domain/assessments/assessments.ts';
import { addCommand, addCommandGroup, type CommonOptions } from './command.ts';
import { withContext } from './with-context.ts';
import { requireOrganization } from './organization.ts';
import { keyValueLines, printJson, printLines, table } from './print.ts';

interface CreateOptions extends CommonOptions {
  organization: string;
  name: string;
}

export function registerAssessmentCommand(program: Command): void {
  const family = addCommandGroup(program, 'assessment', 'Assessments and their asset listings');

  addCommand(family, 'create [uid]', {
    description: 'Create an assessment',
    notes:
      'UID is 1 to 50 lowercase letters, digits, - and _. It is used in URLs and cannot be changed. If omitted, it is\ngenerated.',
    examples: [['assay assessment create acme-web-2026 --organization acme --name "Web 2026"']],
  })
    .requiredOption('--organization <uid>', 'uid of the organization')
    .requiredOption('--name <name>', 'name of the assessment')
    .action((uid: string | undefined, { organization, name, json, ...flags }: CreateOptions) =>
      withContext(flags, async ({ db, clock }) => {
        await requireOrganization(db.read, organization);
        const created = await db.write((tx) =>
          createAssessmentUnchecked(tx, cliAttribution(clock()), { uid, name, organization }),
        );
        if (json === true) return printJson(created);
        printLines(...keyValueLines({ ...created }));
      }),
    );

  addCommand(family, 'list', {
    description: 'List assessments',
    examples: [['assay assessment list']],
  }).action(({ json, ...flags }: CommonOptions) =>
    withContext(flags, async ({ db }) => {
      const assessments = await listAssessments(db.read);
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
          'No assessments yet. Run "assay assessment create" to create one.',
        ),
      );
    }),
  );
}
