import { Text } from '@mantine/core';
import type { Vulnerability } from '../queries/client.ts';
import { isClosed } from './is-closed.ts';
import classes from './gone-badge.module.css';
import { Time } from './time.tsx';

interface GoneProps {
  vulnerability: Pick<Vulnerability, 'gone_at' | 'vulnerability_status'>;
}

const DESCRIPTION = 'The last whole report of its scanner no longer has it: decide whether it is fixed.';

/** @returns since when it is gone, while nobody has closed it */
const goneSince = ({ vulnerability }: GoneProps) => (isClosed(vulnerability) ? null : vulnerability.gone_at);

/** In a row: that there is something to decide. */
export function GoneBadge(props: GoneProps) {
  return (
    goneSince(props) !== null && (
      <span className={classes.mark} title={DESCRIPTION}>
        Gone
      </span>
    )
  );
}

/** In a heading: since when, and what that means. */
export function GoneNote(props: GoneProps) {
  const since = goneSince(props);
  if (since === null) return null;
  return (
    <Text size="sm" className={classes.note}>
      <strong>
        Gone since <Time at={since} exact />
      </strong>
      <br />
      {DESCRIPTION}
    </Text>
  );
}
