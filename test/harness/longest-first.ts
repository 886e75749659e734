import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The last project has many short files, so that no worker ends with a long one. */
const PROJECTS = ['browser', 'postgres', 'sqlite'];

/** The slowest files, slowest first. If one started last, it would run alone at the end. */
const LONGEST = [
  'test/browser/console-imports.test.ts',
  'test/browser/console-vulnerabilities.test.ts',
  'test/browser/console-assessments.test.ts',
  'test/browser/console-vulnerability.test.ts',
  'test/browser/pages.test.ts',
  'test/browser/console-pages.test.ts',
  'test/browser/firefox.test.ts',
  'test/cli/serve.test.ts',
  'test/browser/console-session.test.ts',
  'test/browser/console-vulnerability-form.test.ts',
  'test/lists/list-vulnerabilities.test.ts',
  'test/browser/console-assets.test.ts',
  'test/crash/imports.test.ts',
  'test/cli/tutorial.test.ts',
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
 * Runs the projects one after another: Vitest ends a worker, with its modules, its shared server and its browser, when
 * the next file in the queue belongs to another project. Within a project, the slowest files run first; on a clean
 * checkout, Vitest has no durations of earlier runs.
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
