import type { Severity } from '../../queries/enums.ts';
import { SEVERITIES } from '../../queries/enums.ts';
import { chartMessages as messages } from './messages.ts';
import classes from './charts.module.css';

/** Units of the width of a bar, and between its parts. */
const WIDTH = 100;
const GAP = 0.8;

interface StackBarProps {
  counts: Readonly<Record<Severity, number>>;
  /** The sum that fills the bar. */
  max: number;
}

/** The counts of the severities beside each other. */
export function StackBar({ counts, max }: StackBarProps) {
  const scale = WIDTH / Math.max(1, max);
  return (
    <svg
      className={classes.bar}
      viewBox={`0 0 ${WIDTH} 8`}
      preserveAspectRatio="none"
      role="img"
      aria-label={SEVERITIES.map((name) => messages.count(counts[name], name)).join(', ')}
    >
      {SEVERITIES.map((name, index) => {
        const before = SEVERITIES.slice(0, index).reduce((sum, other) => sum + counts[other], 0);
        return (
          counts[name] > 0 && (
            <g key={name} data-letter={name[0]}>
              <rect
                className={classes.area}
                x={before * scale}
                width={Math.max(GAP, counts[name] * scale - GAP)}
                height="8"
              />
            </g>
          )
        );
      })}
    </svg>
  );
}

/** A share of the largest of several numbers that stand below each other. */
export const Meter = ({ value, max }: { value: number; max: number }) => (
  <svg className={classes.bar} viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" aria-hidden>
    <rect width={(WIDTH * value) / Math.max(1, max)} height="8" />
  </svg>
);

const SPARK = { width: 96, height: 22, margin: 2 } as const;

/** The course of a number. */
export function Sparkline({ values }: { values: readonly number[] }) {
  const max = Math.max(1, ...values);
  const line = values
    .map((value, index) => {
      const x = (SPARK.width * index) / Math.max(1, values.length - 1);
      const y = SPARK.height - (SPARK.height - SPARK.margin) * (value / max);
      return `${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join('L');
  return (
    <svg
      className={classes.spark}
      viewBox={`0 0 ${SPARK.width} ${SPARK.height}`}
      width={SPARK.width}
      height={SPARK.height}
      role="img"
      aria-label={messages.course(values[0] ?? 0, values.at(-1) ?? 0, values.length)}
    >
      <path d={`M${line}V${SPARK.height}H0Z`} />
      <path d={`M${line}`} />
    </svg>
  );
}
