import type { Decision } from '../domain/vulnerabilities/retests.ts';

/** Who does something to a finding. */
export type Who = 'tester' | 'admin' | 'assignee';

/** What happens to a finding so many hours after what happened before. */
export type Step = { by: Who; after: number } & (
  | { does: 'status'; status: number }
  | { does: 'comment'; text: string; internal?: boolean }
  | { does: 'ask'; text: string }
  | { does: 'decide'; decision: Decision; text: string }
);

const status = (by: Who, after: number, id: number): Step => ({ by, after, does: 'status', status: id });
const says = (by: Who, after: number, text: string): Step => ({ by, after, does: 'comment', text });
const notes = (after: number, text: string): Step => ({
  by: 'tester',
  after,
  does: 'comment',
  text,
  internal: true,
});
const asks = (by: Who, after: number, text: string): Step => ({ by, after, does: 'ask', text });
const decides = (by: Who, after: number, decision: Decision, text: string): Step => ({
  by,
  after,
  does: 'decide',
  decision,
  text,
});

const [PENDING_FIX, IN_PROGRESS] = [2, 3];
const [ACCEPTED, NOT_VALID, DUPLICATE, OUT_OF_SCOPE] = [6, 7, 8, 9];

const TRIAGED = [status('admin', 20, PENDING_FIX)];
const CONFIRMED = [
  says('admin', 18, 'Confirmed. It goes to the team of **{place}**.'),
  status('admin', 1, PENDING_FIX),
];
const WORKED_ON = [...CONFIRMED, status('assignee', 60, IN_PROGRESS)];
const DEPLOYED = says(
  'assignee',
  140,
  'The fix is merged, and on the test system since this morning. `{host}` follows on Thursday.',
);

/** How lives of findings go. What lies after today has not happened yet, so a young finding is early in its life. */
export const LIVES: readonly (readonly Step[])[] = [
  [
    ...WORKED_ON,
    DEPLOYED,
    asks('assignee', 50, 'It is live on `{host}` with release 4.12. Please look again.'),
    decides(
      'tester',
      70,
      'verified',
      'The steps of the report lead nowhere now, and the neighbours of the place hold as well.',
    ),
  ],
  [
    ...WORKED_ON,
    notes(4, 'Seen with the same cause in last year’s report. Worth a word in the closing meeting.'),
  ],
  [
    ...CONFIRMED,
    says('assignee', 90, 'We cannot reach this without the VPN. Is the risk the same then?'),
    says(
      'tester',
      6,
      'Less, but every contractor is in that network. We left the vector as it is; the severity is yours to judge.',
    ),
    says(
      'admin',
      160,
      'We live with it until the system goes at the end of the year. Noted in the register of risks, with the owner of the product.',
    ),
    status('admin', 1, ACCEPTED),
  ],
  [
    ...WORKED_ON,
    asks('assignee', 120, 'Fixed. Please verify.'),
    decides(
      'tester',
      60,
      'failed',
      'The value from the report is refused now. With the same value in upper case it works as before, see the last step.',
    ),
    says(
      'assignee',
      20,
      'Thank you. The check ran before the value was brought into one form. We turn that around.',
    ),
    asks('assignee', 110, 'Now in the right order, with a test that has both forms.'),
    decides('tester', 48, 'verified', 'Both forms are refused.'),
  ],
  [...TRIAGED],
  [
    says('admin', 26, 'This looks like what was reported for the other form last week: the code is shared.'),
    says('tester', 5, 'It is. We keep the older report and close this one.'),
    status('tester', 1, DUPLICATE),
  ],
  [...WORKED_ON, DEPLOYED, asks('assignee', 60, 'Deployed in all regions. Please look again.')],
  [
    says('admin', 40, 'Is this the test system? The data in the picture is ours.'),
    says(
      'tester',
      8,
      'You are right, the account was a leftover of the tests. On `{host}` it does not hold.',
    ),
    status('tester', 1, NOT_VALID),
  ],
  [
    ...WORKED_ON,
    asks('assignee', 130, 'Please verify on the staging system, as `{host}` is frozen this month.'),
    decides(
      'tester',
      30,
      'blocked',
      'The staging system answers 503 since Tuesday. Ask again when it is up.',
    ),
    says('assignee', 18, 'The certificate of the load balancer had run out. We are on it.'),
  ],
  [
    ...TRIAGED,
    says('assignee', 70, 'Planned for the next sprint; it needs a change of the schema.'),
    status('assignee', 150, IN_PROGRESS),
    asks('assignee', 100, 'Done, please verify.'),
    decides('tester', 80, 'verified', 'Verified with both accounts of the report.'),
  ],
  [
    says(
      'admin',
      30,
      '`{host}` is run by a supplier and was not part of the contract. We pass it on to them.',
    ),
    status('admin', 2, OUT_OF_SCOPE),
    notes(3, 'Scope list was ambiguous here. Ask for the supplier’s hosts by name next time.'),
  ],
  [
    ...WORKED_ON,
    asks('assignee', 90, 'Please look again.'),
    decides('assignee', 26, 'cancelled', 'Too early: the release was rolled back.'),
  ],
  [
    ...CONFIRMED,
    status('assignee', 30, IN_PROGRESS),
    says(
      'tester',
      40,
      'A filter in front would hold until the fix is there: refuse `{parameter}` with anything but letters and digits.',
    ),
    says('assignee', 15, 'Filter is active since noon.'),
    asks('assignee', 140, 'The real fix is live, and the filter is gone.'),
    decides('tester', 50, 'verified', 'Holds without the filter.'),
  ],
  [
    ...WORKED_ON,
    asks('assignee', 200, 'Fixed with the new framework version.'),
    decides(
      'tester',
      40,
      'failed',
      'The header is set on pages and not on errors: `{path}` with a wrong value shows it.',
    ),
  ],
];

/**
 * Lives of the first findings, which the examples of the API description name: the first one is talked about and open, a
 * retest of the third one can be asked for, and one of the fourth one is asked for since long ago.
 */
export const FIRST_LIVES: readonly (readonly Step[])[] = [
  [
    says(
      'tester',
      1,
      'Reported by telephone as well, because of its severity. `{host}` was tested with the accounts of the tests only.',
    ),
    ...WORKED_ON,
    notes(2, 'The same statement is built in two more places of this module; we have not tried them yet.'),
    says(
      'assignee',
      40,
      'Bound parameters are in review. Until then the address is limited to our own network.',
    ),
  ],
  [...WORKED_ON],
  [...TRIAGED, says('assignee', 30, 'We begin with the parser; the other two points follow.')],
  [
    ...TRIAGED,
    asks('assignee', 30, 'Fixed in build 4702; please look again.'),
    says('admin', 2_200, 'Any news? It is live since spring.'),
  ],
];
