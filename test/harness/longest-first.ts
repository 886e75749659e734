import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Ends with the one that has many short files, so that no worker is left alone with a long one. */
const PROJECTS = ['browser', 'postgres', 'sqlite'];

/** The files that take longest, longest first. Started last, one of them would run alone at the end. */
const LONGEST = [
  'test/browser/console-imports.test.ts',
  'test/browser/console-vulnerabilities.test.ts',
  'test/browser/console-assessments.test.ts',
  'test/browser/console-vulnerability.test.ts',
  'test/browser/pages.test.ts',
  'test/browser/console-pages.test.ts',
  'test/cli/serve.test.ts',
  'test/browser/console-session.test.ts',
  'test/browser/console-vulnerability-form.test.ts',
  'test/lists/list-vulnerabilities.test.ts',
  'test/browser/console-assets.test.ts',
  'test/crash/imports.test.ts',
  'test/cli/readme.test.ts',
  'test/isolation.test.ts',
  'test/cli/import-terminal.test.ts',
  'test/browser/console-people.test.ts',
  'test/account/sso.test.ts',
  'test/cli/import.test.ts',
  'test/browser/console-home.test.ts',
  'test/browser/console-tags.test.ts',
  'test/patterns.test.ts',
  'test/contract/undo-import.test.ts',
  'test/jobs/import-concurrency.test.ts',
  'test/contract/bulk-update-vulnerabilities.test.ts',
  'test/cli/commands.test.ts',
  'test/importers/run-import.test.ts',
  'test/db/migrations.test.ts',
  'test/cli/demo.test.ts',
];

/**
 * Runs the files of one project after those of another, so that Vitest keeps its workers: it ends a worker whenever the
 * next file in the queue is of another project, and with it the modules, the shared server and the browser of the worker.
 * Within a project, the longest files run first. Vitest knows durations of earlier runs only, which a clean checkout lacks.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const index = LONGEST.indexOf(relative(project.config.root, moduleId));
      return index < 0 ? LONGEST.length : index;
    };
    return (await super.sort(files)).toSorted(
      (one, other) =>
        PROJECTS.indexOf(one.project.name) - PROJECTS.indexOf(other.project.name) || rank(one) - rank(other),
    );
  }
}
