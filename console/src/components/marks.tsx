import type { Criticality, Severity } from '../queries/enums.ts';
import { statusName } from '../queries/statuses.ts';
import { LabelledMark } from './labelled-mark.tsx';
import { commonMessages } from './messages.ts';
import { STATUS_GLYPHS } from './status-glyphs.tsx';
import classes from './marks.module.css';

interface MarkProps {
  /** Whether the word stands beside the mark; otherwise it is a tooltip and for screen readers. */
  withLabel?: boolean;
}

interface SeverityMarkProps extends MarkProps {
  severity: Severity;
  /** 16, 20 or 28 pixels. */
  size?: 'sm' | 'md' | 'lg';
}

/** The first letter of a severity, on its colour. */
export const SeverityMark = ({ severity, size = 'md', withLabel = false }: SeverityMarkProps) => (
  <LabelledMark
    label={severity}
    withLabel={withLabel}
    className={classes.severity}
    data-letter={severity[0]}
    data-size={size}
  />
);

/** The glyph of a status. Beside a glyph with too little room for it, the word is not seen. */
export function StatusMark({ id, withLabel = false }: MarkProps & { id: number }) {
  const name = statusName(id);
  const glyph = (
    <svg
      viewBox="0 0 16 16"
      className={classes.glyph}
      data-status={id}
      role={withLabel ? undefined : 'img'}
      aria-label={withLabel ? undefined : name}
      aria-hidden={withLabel}
    >
      {!withLabel && <title>{name}</title>}
      {STATUS_GLYPHS[id]}
    </svg>
  );
  return withLabel ? (
    <span className={classes.status} data-status={id} title={name}>
      {glyph}
      <span>{name}</span>
    </span>
  ) : (
    glyph
  );
}

const BARS: Readonly<Record<Exclude<Criticality, 'undefined'>, number>> = { high: 3, medium: 2, low: 1 };

interface CriticalityMarkProps extends MarkProps {
  criticality: Criticality;
}

/** The criticality of an asset: up to three bars, or a dash if it is not set. */
export const CriticalityMark = ({ criticality, withLabel = false }: CriticalityMarkProps) => (
  <LabelledMark
    label={commonMessages.criticalities[criticality]}
    withLabel={withLabel}
    className={classes.criticality}
  >
    {criticality === 'undefined' ? '–' : <CriticalityBars count={BARS[criticality]} />}
  </LabelledMark>
);

const CriticalityBars = ({ count }: { count: number }) => (
  <svg viewBox="0 0 14 12" aria-hidden>
    {[0, 1, 2].map((bar) => (
      <rect
        key={bar}
        x={bar * 5}
        y={8 - bar * 4}
        width="4"
        height={4 + bar * 4}
        rx="1"
        data-full={bar < count || undefined}
      />
    ))}
  </svg>
);
