import { randomUUID } from 'node:crypto';
import type { Attribution, Caller } from '../auth/callers.ts';
import { grantableScopes } from '../auth/scopes.ts';
import type { CreatedUser } from '../domain/users/users.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const [OPENS, CLOSES] = [8, 18];

interface ScheduledAction {
  at: number;
  run: (now: number) => Promise<unknown>;
}

/** Runs actions in the order of their times, so that ids are in that order too. */
export class Schedule {
  readonly #actions: ScheduledAction[] = [];

  /** @param at milliseconds since 1970 */
  add(at: number, run: ScheduledAction['run']): void {
    this.#actions.push({ at, run });
  }

  /** Runs all actions up to `now`. */
  async runUntil(now: number): Promise<void> {
    const due = this.#actions.filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
    for (const { at, run } of due) await run(at);
  }
}

/** Returns the time if it is in working hours (UTC), else the same minute of the next working hour. */
export function nextWorkingHour(time: number): number {
  const date = new Date(time);
  const [hour, weekday] = [date.getUTCHours(), date.getUTCDay()];
  const today = time - (time % DAY) + OPENS * HOUR + (time % HOUR);
  if (weekday === 6) return today + 2 * DAY;
  if (weekday === 0) return today + DAY;
  if (hour < OPENS) return today;
  if (hour >= CLOSES) return nextWorkingHour(today + DAY - OPENS * HOUR);
  return time;
}

/** Returns midnight UTC of the Monday of a week. */
export function mondayOf(time: number): number {
  const midnight = time - (time % DAY);
  return midnight - ((new Date(midnight).getUTCDay() + 6) % 7) * DAY;
}

/** A user of the demo data. */
export type DemoUser = CreatedUser & { organizationId: number | null; admin: boolean };

/** Attributes a change to a user, as in a request of their own. */
export function personAttribution(person: DemoUser, now: number): Attribution<Caller> {
  const staff = person.organizationId === null;
  const account = {
    staff,
    admin: person.admin,
    assignedOrganizations: null,
    organizationId: person.organizationId,
  };
  const actor: Caller = {
    ...account,
    kind: 'user',
    userId: person.id,
    uid: person.uid,
    credentialId: 'demo',
    // Reserved for documentation (RFC 5737).
    address: `198.51.100.${10 + (person.id % 200)}`,
    requestId: randomUUID(),
    scopes: new Set(grantableScopes(account)),
    bounds: { allowedAddresses: null, expiresAt: null },
  };
  return { actor, now };
}
