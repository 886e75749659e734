import { Skeleton, VisuallyHidden } from '@mantine/core';
import { useAssessmentName } from '../queries/names.ts';

/** The name of an assessment. */
export function AssessmentName({ uid }: { uid: string }) {
  const name = useAssessmentName(uid);
  if (name !== undefined) return <bdi title={uid}>{name}</bdi>;
  return (
    <>
      <Skeleton component="span" display="inline-block" width={120} height={10} />
      {/* A link around it has a name from the start. */}
      <VisuallyHidden component="span">{uid}</VisuallyHidden>
    </>
  );
}
