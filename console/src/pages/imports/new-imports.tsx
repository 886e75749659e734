import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { counted } from '../../components/pluralize.ts';
import { whoAmI } from '../../session/current-user.ts';
import { ImportOptions, NO_WISHES } from './import-options.tsx';
import { ReportCard } from './import-file-card.tsx';

/** A file that was dropped, with a number of its own: the same may be dropped twice. */
export interface DroppedFile {
  id: number;
  file: File;
}

interface CardState {
  canStart: boolean;
  started: boolean;
  wrongAssessment: string | undefined;
}

interface NewImportsProps {
  files: readonly DroppedFile[];
  onRemove: (ids: readonly number[]) => void;
}

/** Reports that were dropped, with what holds for all of them. */
export function NewImports({ files, onRemove }: NewImportsProps) {
  const [wishes, setWishes] = useState(NO_WISHES);
  const [states, setStates] = useState<Readonly<Record<number, CardState>>>({});
  const [startAll, setStartAll] = useState(0);
  const { data: who } = useQuery(whoAmI);
  // Without an assessment only admins import, and staff name the organization then.
  const isReady =
    wishes.assessment !== null || (who?.admin === true && (!who.staff || wishes.organization !== null));
  const here = files.flatMap(({ id }) => states[id] ?? []);
  const startable = here.filter(({ canStart }) => canStart).length;
  const allStarted = here.length > 0 && here.every(({ started }) => started);
  const wrong = here.find(({ wrongAssessment }) => wrongAssessment !== undefined)?.wrongAssessment;
  return (
    <Stack gap="sm">
      {!allStarted && (
        <ImportOptions
          wishes={wishes}
          onChange={setWishes}
          wrongAssessment={wishes.assessment === null && wrong !== undefined ? sentence(wrong) : undefined}
        />
      )}
      {files.map(({ id, file }) => (
        <ReportCard
          key={id}
          file={file}
          wishes={wishes}
          isReady={isReady}
          startAll={startAll}
          onRemove={() => onRemove([id])}
          onState={(state) => setStates((now) => ({ ...now, [id]: state }))}
        />
      ))}
      <Group gap="sm">
        {startable > 1 && (
          <Button size="xs" onClick={() => setStartAll((number) => number + 1)}>
            Import all {startable}
          </Button>
        )}
        {files.length > 1 && !allStarted && (
          <Text size="sm" c="dimmed">
            {counted(files.length, 'report')}
          </Text>
        )}
        <Button size="xs" variant="default" onClick={() => onRemove(files.map(({ id }) => id))}>
          {allStarted ? 'Done' : 'Remove all'}
        </Button>
      </Group>
    </Stack>
  );
}

const sentence = (words: string) => `${words[0]?.toUpperCase() ?? ''}${words.slice(1)}.`;
