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

/** What people do in half a year, each thing at its time: so the order of rows is that of their times. */
export class Schedule {
  readonly #deeds: ScheduledAction[] = [];

  /** @param at milliseconds since 1970 */
  add(at: number, run: ScheduledAction['run']): void {
    this.#deeds.push({ at, run });
  }

  /** Does everything that is not after `now`, from the first to the last. */
  async runUntil(now: number): Promise<void> {
    const done = this.#deeds.filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
    for (const { at, run } of done) await run(at);
  }
}

/** @returns the time itself where people are at work then (UTC), else when they come back, at the same minute */
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

/** @returns the Monday, at midnight UTC, of the week in which it is */
export function mondayOf(time: number): number {
  const midnight = time - (time % DAY);
  return midnight - ((new Date(midnight).getUTCDay() + 6) % 7) * DAY;
}

/** Somebody of the demo, as the rules see who is signed in. */
export type DemoUser = CreatedUser & { organizationId: number | null; admin: boolean };

/** @returns what somebody of the demo does, in a request of its own */
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
    // Of a block for documentation (RFC 5737).
    address: `198.51.100.${10 + (person.id % 200)}`,
    requestId: randomUUID(),
    scopes: new Set(grantableScopes(account)),
    bounds: { allowedAddresses: null, expiresAt: null },
  };
  return { actor, now };
}
