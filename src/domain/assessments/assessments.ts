import type { FieldError } from '../shared/errors.ts';
import { isCalendarDate } from '../shared/time.ts';

/** The form of an assessment's uid, which is V1's `assessment_id` and the asset area's `listingUid`. */
export const ASSESSMENT_UID = /^[-_0-9a-z]{1,50}$/;

export const ASSESSMENT_TYPES = ['web', 'host', 'api', 'mobile'] as const;
export type AssessmentType = (typeof ASSESSMENT_TYPES)[number];
export const ASSESSMENT_STATES = ['pending', 'active', 'paused', 'completed'] as const;
export type AssessmentState = (typeof ASSESSMENT_STATES)[number];

export const MAX_DESCRIPTION = 65_536;

/** What can be said of an assessment at any time; what is absent has its default in a new one, and stays in another. */
export interface AssessmentFields {
  description?: string | undefined;
  type?: AssessmentType | undefined;
  state?: AssessmentState | undefined;
  /** The assessment group that it belongs to. */
  groupId?: number | null | undefined;
  /** Days, as `2026-11-22`. */
  startsOn?: string | null | undefined;
  endsOn?: string | null | undefined;
}

/** @returns what is wrong with the days of an assessment */
export function validateDates({
  startsOn,
  endsOn,
}: Pick<AssessmentFields, 'startsOn' | 'endsOn'>): FieldError[] {
  const faults = Object.entries({ startsOn, endsOn }).flatMap(([property, value]): FieldError[] =>
    typeof value !== 'string' || isCalendarDate(value) ? [] : [{ property, code: 'not-a-date', value }],
  );
  if (faults.length > 0 || typeof startsOn !== 'string' || typeof endsOn !== 'string' || endsOn >= startsOn)
    return faults;
  return [{ property: 'endsOn', code: 'before', params: { other: 'startsOn' }, value: endsOn }];
}
