import { Text } from '@mantine/core';
import type { Vulnerability } from '../queries/client.ts';
import classes from './gone-badge.module.css';
import { fillSentence } from './fill-sentence.ts';
import { Time } from './time.tsx';
import { isClosed } from '../queries/vulnerabilities.ts';
import { commonMessages } from './messages.ts';

interface GoneProps {
  vulnerability: Pick<Vulnerability, 'gone_at' | 'vulnerability_status'>;
}

/** @returns since when an open vulnerability is gone */
const goneSince = ({ vulnerability }: GoneProps) => (isClosed(vulnerability) ? null : vulnerability.gone_at);

/** Marks a gone vulnerability in a row. */
export function GoneBadge(props: GoneProps) {
  return (
    goneSince(props) !== null && (
      <span className={classes.mark} title={commonMessages.gone}>
        Gone
      </span>
    )
  );
}

/** Explains below a heading since when a vulnerability is gone. */
export function GoneNote(props: GoneProps) {
  const since = goneSince(props);
  if (since === null) return null;
  return (
    <Text size="sm" className={classes.note}>
      <strong>{fillSentence(commonMessages.goneSince, { at: <Time at={since} exact /> })}</strong>
      <br />
      {commonMessages.gone}
    </Text>
  );
}
