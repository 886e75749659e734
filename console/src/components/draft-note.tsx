import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { assessmentQuery } from '../queries/assessments.ts';
import type { Vulnerability } from '../queries/client.ts';
import { currentUserQuery } from '../session/permissions.ts';
import { commonMessages } from './messages.ts';
import PublishDialog from './publish-dialog.tsx';
import { VulnerabilityPills } from './vulnerability-pills.tsx';

const messages = commonMessages.draft;

interface DraftNoteProps {
  vulnerability: Pick<Vulnerability, 'id' | 'draft' | 'outside_scope' | 'assessment_id' | 'created_by'>;
}

/** Says below a heading that only staff see a draft, and publishes it where the user may. */
export default function DraftNote({ vulnerability }: DraftNoteProps) {
  const [isPublishing, setPublishing] = useState(false);
  const isDraft = vulnerability.draft === true;
  const { data: user } = useQuery(currentUserQuery);
  const { data: assessment } = useQuery({
    ...assessmentQuery(vulnerability.assessment_id),
    enabled: isDraft,
  });
  if (!isDraft) return null;
  const needsSecondPerson =
    assessment?.drafts === 'second_person' && vulnerability.created_by?.id === user?.id;
  return (
    <Group gap="xs">
      <VulnerabilityPills vulnerability={{ draft: true, outside_scope: vulnerability.outside_scope }} />
      <Text size="sm">
        {messages.note} {needsSecondPerson && messages.secondPersonHint}
      </Text>
      {assessment !== undefined && !needsSecondPerson && (
        <Button size="xs" variant="default" onClick={() => setPublishing(true)}>
          {messages.publish}
        </Button>
      )}
      {isPublishing && <PublishDialog ids={[vulnerability.id]} onClose={() => setPublishing(false)} />}
    </Group>
  );
}
