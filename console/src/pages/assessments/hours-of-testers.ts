import type { TestingSession } from '../../queries/client.ts';

interface TesterHours {
  tester: TestingSession['tester'];
  hours: number;
  /** When their running session began. */
  since?: string;
}

/** @returns the hours of each tester, those who test now first, then by their hours */
export function hoursOfTesters(
  sessions: readonly TestingSession[],
  running: readonly TestingSession[],
): TesterHours[] {
  const testers = new Map<number, TesterHours>();
  for (const { tester, hours } of sessions) {
    const sum = (testers.get(tester.id)?.hours ?? 0) + hours;
    testers.set(tester.id, { tester, hours: sum });
  }
  for (const { tester, started_at: since } of running)
    testers.set(tester.id, { tester, hours: testers.get(tester.id)?.hours ?? 0, since });
  const order = ({ since, hours }: TesterHours) => (since === undefined ? 0 : 1e6) + hours;
  return [...testers.values()].toSorted((a, b) => order(b) - order(a));
}
