import { Skeleton } from '@mantine/core';
import { useAssessmentName } from '../queries/names.ts';

/** The name of an assessment. */
export function AssessmentName({ uid }: { uid: string }) {
  const name = useAssessmentName(uid);
  return name === undefined ? (
    <Skeleton component="span" display="inline-block" width={120} height={10} />
  ) : (
    <bdi title={uid}>{name}</bdi>
  );
}
