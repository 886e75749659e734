import { createContext } from 'preact';
import { importList } from '../domain/imports/import-list.ts';
import type { ListContext } from '../domain/lists/filters.ts';
import { loadAssessmentIds, visibilityOf, visibilityParameters } from '../domain/shared/visibility.ts';
import { vulnerabilityList } from '../domain/vulnerabilities/vulnerability-list.ts';

/** The navigation of a reader, as in the console. */
export interface Navigation {
  readsVulnerabilities: boolean;
  openVulnerabilities: number;
  runningImports: number;
}

/** The navigation of pages that are sent without reading the database: every page, without counts. */
export const WITHOUT_COUNTS: Navigation = {
  readsVulnerabilities: true,
  openVulnerabilities: 0,
  runningImports: 0,
};

export const NavigationContext = createContext(WITHOUT_COUNTS);

/** Loads the numbers of open vulnerabilities (operation 15) and running imports (operation 66) that the caller may read. */
export async function loadNavigation(context: ListContext): Promise<Navigation> {
  const [readsVulnerabilities, openVulnerabilities, runningImports] = await Promise.all([
    mayReadVulnerabilities(context),
    vulnerabilityList.count(context, { phase: ['new', 'open'] }),
    importList.count(context, { state: ['queued', 'running'] }),
  ]);
  return { readsVulnerabilities, openVulnerabilities, runningImports };
}

/** Whether a role in any assessment permits it; true for admins, and for users without any role. */
async function mayReadVulnerabilities({ db, caller }: ListContext): Promise<boolean> {
  if (caller.admin) return true;
  const assessmentsWith = (permission: 'read' | 'read_vulnerabilities') =>
    loadAssessmentIds(db, visibilityOf(caller, permission), visibilityParameters(caller));
  return (
    (await assessmentsWith('read_vulnerabilities')).length > 0 || (await assessmentsWith('read')).length === 0
  );
}
