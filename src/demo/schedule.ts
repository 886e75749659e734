import { randomUUID } from 'node:crypto';
import type { ChangeContext, Caller } from '../auth/callers.ts';
import { grantableScopes } from '../auth/scopes.ts';
import type { CreatedUser } from '../domain/users/users.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const [OPENS, CLOSES] = [8, 18];

interface ScheduledAction {
  at: number;
  run: (now: number) => Promise<unknown>;
}

/** Runs actions in the order of their times, so that ids increase with time. */
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

export function mondayOf(time: number): number {
  const midnight = time - (time % DAY);
  return midnight - ((new Date(midnight).getUTCDay() + 6) % 7) * DAY;
}

export type DemoUser = CreatedUser & { organizationId: number | null; admin: boolean };

/** Caches the caller of each user, because users make hundreds of changes. */
const callers = new WeakMap<DemoUser, Omit<Caller, 'requestId'>>();

/** Attributes a change to a user, as if the user had sent a request. */
export function personChangeContext(person: DemoUser, now: number): ChangeContext<Caller> {
  let caller = callers.get(person);
  if (caller === undefined) callers.set(person, (caller = callerOf(person)));
  return { actor: { ...caller, requestId: randomUUID() }, now };
}

function callerOf({ id, uid, organizationId, admin }: DemoUser): Omit<Caller, 'requestId'> {
  const account = { staff: organizationId === null, admin, assignedOrganizations: null, organizationId };
  return {
    ...account,
    kind: 'user',
    userId: id,
    uid,
    credentialId: 'demo',
    // This network is reserved for documentation (RFC 5737).
    address: `198.51.100.${10 + (id % 200)}`,
    scopes: new Set(grantableScopes(account)),
    bounds: { tokenId: null, allowedAddresses: null, expiresAt: null },
  };
}
