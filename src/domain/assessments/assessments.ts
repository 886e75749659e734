import type { FieldError } from '../shared/errors.ts';
import { isCalendarDate } from '../shared/time.ts';

/** The uid of an assessment: `assessment_id` in V1, and `listingUid` of the asset operations. */
export const ASSESSMENT_UID = /^[-_0-9a-z]{1,50}$/;

export const ASSESSMENT_TYPES = ['web', 'host', 'api', 'mobile'] as const;
export type AssessmentType = (typeof ASSESSMENT_TYPES)[number];
export const ASSESSMENT_STATES = ['pending', 'active', 'paused', 'completed'] as const;
export type AssessmentState = (typeof ASSESSMENT_STATES)[number];

/** Whether what staff report in an assessment begins as a draft, and whether somebody else has to publish it. */
export const DRAFT_POLICIES = ['off', 'on', 'second_person'] as const;
export type DraftPolicy = (typeof DRAFT_POLICIES)[number];

export const MAX_DESCRIPTION = 65_536;

/** Absent fields get their default in a new assessment, and stay in an existing one. */
export interface AssessmentFields {
  description?: string | undefined;
  type?: AssessmentType | undefined;
  state?: AssessmentState | undefined;
  /** Changed by staff alone. */
  drafts?: DraftPolicy | undefined;
  groupId?: number | null | undefined;
  /** Days, as `2026-11-22`. */
  startsOn?: string | null | undefined;
  endsOn?: string | null | undefined;
}

export function validateDates({
  startsOn,
  endsOn,
}: Pick<AssessmentFields, 'startsOn' | 'endsOn'>): FieldError[] {
  const errors = Object.entries({ startsOn, endsOn }).flatMap(([property, value]): FieldError[] =>
    typeof value !== 'string' || isCalendarDate(value) ? [] : [{ property, code: 'not-a-date', value }],
  );
  if (errors.length > 0 || typeof startsOn !== 'string' || typeof endsOn !== 'string' || endsOn >= startsOn)
    return errors;
  return [{ property: 'endsOn', code: 'before', params: { other: 'startsOn' }, value: endsOn }];
}
