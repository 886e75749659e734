/** Texts of the next step of a finding. */
export const nextStepMessages = {
  label: 'Next step',
  steps: {
    confirm: 'Confirm',
    startFix: 'Start fix',
    requestRetest: 'Ask for a retest',
    decideRetest: 'Decide the retest',
    wait: 'Waits for a tester',
  },
  dismiss: 'Dismiss',
  dismissTitle: 'Dismiss the finding',
  dismissAs: 'Why it is not fixed',
  fixedWhat: 'What was fixed, and where to test it',
} as const;
