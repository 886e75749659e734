import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { pluralize } from '../../components/pluralize.ts';
import { currentUser } from '../../session/current-user.ts';
import { ImportOptions, DEFAULT_SETTINGS } from './import-options.tsx';
import { ImportFileCard } from './import-file-card.tsx';

/** A file that was dropped, with a number of its own: the same may be dropped twice. */
export interface DroppedFile {
  id: number;
  file: File;
}

interface CardState {
  canStart: boolean;
  started: boolean;
  assessmentError: string | undefined;
}

interface NewImportsProps {
  files: readonly DroppedFile[];
  onRemove: (ids: readonly number[]) => void;
}

/** Reports that were dropped, with what holds for all of them. */
export function NewImports({ files, onRemove }: NewImportsProps) {
  const [wishes, setWishes] = useState(DEFAULT_SETTINGS);
  const [states, setStates] = useState<Readonly<Record<number, CardState>>>({});
  const [startAll, setStartAll] = useState(0);
  const { data: who } = useQuery(currentUser);
  // Without an assessment only admins import, and staff name the organization then.
  const isReady =
    wishes.assessmentUid !== null || (who?.admin === true && (!who.staff || wishes.organizationUid !== null));
  const here = files.flatMap(({ id }) => states[id] ?? []);
  const startable = here.filter(({ canStart }) => canStart).length;
  const allStarted = here.length > 0 && here.every(({ started }) => started);
  const wrong = here.find(({ assessmentError }) => assessmentError !== undefined)?.assessmentError;
  return (
    <Stack gap="sm">
      {!allStarted && (
        <ImportOptions
          settings={wishes}
          onChange={setWishes}
          assessmentError={
            wishes.assessmentUid === null && wrong !== undefined ? toSentence(wrong) : undefined
          }
        />
      )}
      {files.map(({ id, file }) => (
        <ImportFileCard
          key={id}
          file={file}
          settings={wishes}
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
            {pluralize(files.length, 'report')}
          </Text>
        )}
        <Button size="xs" variant="default" onClick={() => onRemove(files.map(({ id }) => id))}>
          {allStarted ? 'Done' : 'Remove all'}
        </Button>
      </Group>
    </Stack>
  );
}

const toSentence = (words: string) => `${words[0]?.toUpperCase() ?? ''}${words.slice(1)}.`;
