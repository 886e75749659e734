import type { RetestDecision } from '../domain/vulnerabilities/retests.ts';
import { lazyDemoData } from './data.ts';

/** Who performs a step. */
export type LifecycleActor = 'tester' | 'admin' | 'assignee';

/** A step in the life of a finding; `after` is in hours since the previous step. */
export type LifecycleStep = { by: LifecycleActor; after: number } & (
  | { does: 'status'; status: number }
  | { does: 'comment'; text: string; internal?: boolean }
  | { does: 'ask'; text: string }
  | { does: 'decide'; decision: RetestDecision; text: string }
);

/**
 * The lifecycles of findings; steps after the current time have not happened yet. `first` are those of the first findings, to
 * which the examples of the API description refer: the first has comments and is open, a retest of the third can be
 * requested, and the retest of the fourth has been pending for long.
 */
export const lifecycles = lazyDemoData('lifecycles.json') as () => Readonly<
  Record<'first' | 'others', readonly (readonly LifecycleStep[])[]>
>;
