import type { Criticality } from '../queries/enums.ts';
import classes from './criticality-badge.module.css';
import { commonMessages } from './messages.ts';

const BARS: Readonly<Record<Criticality, number>> = { high: 3, medium: 2, low: 1, undefined: 0 };
const LABELS: Readonly<Record<Criticality, string>> = {
  high: 'High',
  medium: 'Medium',
  low: 'Low',
  undefined: commonMessages.undefinedCriticality,
};

/** Shows a criticality by its label and by up to three bars. */
export function CriticalityBadge({ criticality }: { criticality: Criticality }) {
  return (
    <span className={classes.mark} data-criticality={criticality}>
      <svg viewBox="0 0 14 12" aria-hidden>
        {[0, 1, 2].map((bar) => (
          <rect
            key={bar}
            x={bar * 5}
            y={8 - bar * 4}
            width="4"
            height={4 + bar * 4}
            rx="1"
            data-full={bar < BARS[criticality] || undefined}
          />
        ))}
      </svg>
      {LABELS[criticality]}
    </span>
  );
}
