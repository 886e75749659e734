import type { RetestDecision } from '../domain/vulnerabilities/retests.ts';

/** Who does something to a finding. */
export type LifecycleActor = 'tester' | 'admin' | 'assignee';

/** What happens to a finding so many hours after what happened before. */
export type LifecycleStep = { by: LifecycleActor; after: number } & (
  | { does: 'status'; status: number }
  | { does: 'comment'; text: string; internal?: boolean }
  | { does: 'ask'; text: string }
  | { does: 'decide'; decision: RetestDecision; text: string }
);

const statusStep = (by: LifecycleActor, after: number, id: number): LifecycleStep => ({
  by,
  after,
  does: 'status',
  status: id,
});
const commentStep = (by: LifecycleActor, after: number, text: string): LifecycleStep => ({
  by,
  after,
  does: 'comment',
  text,
});
const noteStep = (after: number, text: string): LifecycleStep => ({
  by: 'tester',
  after,
  does: 'comment',
  text,
  internal: true,
});
const askStep = (by: LifecycleActor, after: number, text: string): LifecycleStep => ({
  by,
  after,
  does: 'ask',
  text,
});
const decideStep = (
  by: LifecycleActor,
  after: number,
  decision: RetestDecision,
  text: string,
): LifecycleStep => ({
  by,
  after,
  does: 'decide',
  decision,
  text,
});

const [PENDING_FIX, IN_PROGRESS] = [2, 3];
const [ACCEPTED, NOT_VALID, DUPLICATE, OUT_OF_SCOPE] = [6, 7, 8, 9];

const TRIAGED = [statusStep('admin', 20, PENDING_FIX)];
const CONFIRMED = [
  commentStep('admin', 18, 'Confirmed. It goes to the team of **{place}**.'),
  statusStep('admin', 1, PENDING_FIX),
];
const WORKED_ON = [...CONFIRMED, statusStep('assignee', 60, IN_PROGRESS)];
const DEPLOYED = commentStep(
  'assignee',
  140,
  'The fix is merged, and on the test system since this morning. `{host}` follows on Thursday.',
);

/** How lives of findings go. What lies after today has not happened yet, so a young finding is early in its life. */
export const LIFECYCLES: readonly (readonly LifecycleStep[])[] = [
  [
    ...WORKED_ON,
    DEPLOYED,
    askStep('assignee', 50, 'It is live on `{host}` with release 4.12. Please look again.'),
    decideStep(
      'tester',
      70,
      'verified',
      'The steps of the report lead nowhere now, and the neighbours of the place hold as well.',
    ),
  ],
  [
    ...WORKED_ON,
    noteStep(4, 'Seen with the same cause in last year’s report. Worth a word in the closing meeting.'),
  ],
  [
    ...CONFIRMED,
    commentStep('assignee', 90, 'We cannot reach this without the VPN. Is the risk the same then?'),
    commentStep(
      'tester',
      6,
      'Less, but every contractor is in that network. We left the vector as it is; the severity is yours to judge.',
    ),
    commentStep(
      'admin',
      160,
      'We live with it until the system goes at the end of the year. Noted in the register of risks, with the owner of the product.',
    ),
    statusStep('admin', 1, ACCEPTED),
  ],
  [
    ...WORKED_ON,
    askStep('assignee', 120, 'Fixed. Please verify.'),
    decideStep(
      'tester',
      60,
      'failed',
      'The value from the report is refused now. With the same value in upper case it works as before, see the last step.',
    ),
    commentStep(
      'assignee',
      20,
      'Thank you. The check ran before the value was brought into one form. We turn that around.',
    ),
    askStep('assignee', 110, 'Now in the right order, with a test that has both forms.'),
    decideStep('tester', 48, 'verified', 'Both forms are refused.'),
  ],
  [...TRIAGED],
  [
    commentStep(
      'admin',
      26,
      'This looks like what was reported for the other form last week: the code is shared.',
    ),
    commentStep('tester', 5, 'It is. We keep the older report and close this one.'),
    statusStep('tester', 1, DUPLICATE),
  ],
  [...WORKED_ON, DEPLOYED, askStep('assignee', 60, 'Deployed in all regions. Please look again.')],
  [
    commentStep('admin', 40, 'Is this the test system? The data in the picture is ours.'),
    commentStep(
      'tester',
      8,
      'You are right, the account was a leftover of the tests. On `{host}` it does not hold.',
    ),
    statusStep('tester', 1, NOT_VALID),
  ],
  [
    ...WORKED_ON,
    askStep('assignee', 130, 'Please verify on the staging system, as `{host}` is frozen this month.'),
    decideStep(
      'tester',
      30,
      'blocked',
      'The staging system answers 503 since Tuesday. Ask again when it is up.',
    ),
    commentStep('assignee', 18, 'The certificate of the load balancer had run out. We are on it.'),
  ],
  [
    ...TRIAGED,
    commentStep('assignee', 70, 'Planned for the next sprint; it needs a change of the schema.'),
    statusStep('assignee', 150, IN_PROGRESS),
    askStep('assignee', 100, 'Done, please verify.'),
    decideStep('tester', 80, 'verified', 'Verified with both accounts of the report.'),
  ],
  [
    commentStep(
      'admin',
      30,
      '`{host}` is run by a supplier and was not part of the contract. We pass it on to them.',
    ),
    statusStep('admin', 2, OUT_OF_SCOPE),
    noteStep(3, 'Scope list was ambiguous here. Ask for the supplier’s hosts by name next time.'),
  ],
  [
    ...WORKED_ON,
    askStep('assignee', 90, 'Please look again.'),
    decideStep('assignee', 26, 'cancelled', 'Too early: the release was rolled back.'),
  ],
  [
    ...CONFIRMED,
    statusStep('assignee', 30, IN_PROGRESS),
    commentStep(
      'tester',
      40,
      'A filter in front would hold until the fix is there: refuse `{parameter}` with anything but letters and digits.',
    ),
    commentStep('assignee', 15, 'Filter is active since noon.'),
    askStep('assignee', 140, 'The real fix is live, and the filter is gone.'),
    decideStep('tester', 50, 'verified', 'Holds without the filter.'),
  ],
  [
    ...WORKED_ON,
    askStep('assignee', 200, 'Fixed with the new framework version.'),
    decideStep(
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
export const FIRST_LIFECYCLES: readonly (readonly LifecycleStep[])[] = [
  [
    commentStep(
      'tester',
      1,
      'Reported by telephone as well, because of its severity. `{host}` was tested with the accounts of the tests only.',
    ),
    ...WORKED_ON,
    noteStep(2, 'The same statement is built in two more places of this module; we have not tried them yet.'),
    commentStep(
      'assignee',
      40,
      'Bound parameters are in review. Until then the address is limited to our own network.',
    ),
  ],
  [...WORKED_ON],
  [...TRIAGED, commentStep('assignee', 30, 'We begin with the parser; the other two points follow.')],
  [
    ...TRIAGED,
    askStep('assignee', 30, 'Fixed in build 4702; please look again.'),
    commentStep('admin', 2_200, 'Any news? It is live since spring.'),
  ],
];
