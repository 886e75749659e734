import { Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { pluralize } from '../../components/pluralize.ts';
import { currentUserQuery } from '../../session/permissions.ts';
import { ImportOptions, DEFAULT_SETTINGS } from './import-options.tsx';
import { ImportFileCard } from './import-file-card.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { importMessages } from './messages.ts';

/** A dropped file. Its id is unique, as the same file may be dropped twice. */
export interface DroppedFile {
  id: number;
  file: File;
}

interface CardState {
  canStart: boolean;
  started: boolean;
}

interface NewImportsProps {
  files: readonly DroppedFile[];
  onRemove: (ids: readonly number[]) => void;
}

/** The dropped reports and their common options. */
export function NewImports({ files, onRemove }: NewImportsProps) {
  const [settings, setSettings] = useState(DEFAULT_SETTINGS);
  const [states, setStates] = useState<Readonly<Record<number, CardState>>>({});
  const [startAll, setStartAll] = useState(0);
  const { data: user } = useQuery(currentUserQuery);
  // Only admins may import without an assessment; staff must then choose an organization.
  const isReady =
    settings.assessmentUid !== null ||
    (user?.admin === true && (!user.staff || settings.organizationUid !== null));
  const shownStates = files.flatMap(({ id }) => states[id] ?? []);
  const startableCount = shownStates.filter(({ canStart }) => canStart).length;
  const allStarted = shownStates.length > 0 && shownStates.every(({ started }) => started);
  return (
    <Stack gap="sm">
      {!allStarted && <ImportOptions settings={settings} onChange={setSettings} />}
      {files.map(({ id, file }) => (
        <ImportFileCard
          key={id}
          file={file}
          settings={settings}
          isReady={isReady}
          startAll={startAll}
          onRemove={() => onRemove([id])}
          onState={(state) => setStates((previous) => ({ ...previous, [id]: state }))}
        />
      ))}
      <Group gap="sm">
        {startableCount > 1 && (
          <Button size="xs" onClick={() => setStartAll((number) => number + 1)}>
            {importMessages.file.importAll(startableCount)}
          </Button>
        )}
        {files.length > 1 && !allStarted && <DimmedText>{pluralize(files.length, 'report')}</DimmedText>}
        <Button size="xs" variant="default" onClick={() => onRemove(files.map(({ id }) => id))}>
          {allStarted ? 'Close' : importMessages.file.removeAll}
        </Button>
      </Group>
    </Stack>
  );
}
