import { fillSentence } from '../../components/fill-sentence.ts';
import { Day } from '../../components/time.tsx';
import type { Assessment } from '../../queries/client.ts';
import { assessmentMessages as messages } from './messages.ts';

/** The dates of an assessment, as far as it has them. */
export function Period({
  assessment: { starts_on: start, ends_on: end },
}: {
  assessment: Pick<Assessment, 'starts_on' | 'ends_on'>;
}) {
  if (start === null && end === null) return messages.noDates;
  if (start === null) return fillSentence(messages.until, { end: <Day on={end ?? ''} /> });
  if (end === null) return fillSentence(messages.from, { start: <Day on={start} /> });
  return fillSentence(messages.fromUntil, { start: <Day on={start} />, end: <Day on={end} /> });
}
