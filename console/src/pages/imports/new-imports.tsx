import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { PageLayout } from '../../components/page.tsx';
import { Columns } from '../../components/section.tsx';
import { useAssessmentNames } from '../../queries/names.ts';
import type { ImportSettings } from '../../queries/upload-import.ts';
import { currentUserQuery } from '../../session/permissions.ts';
import { ChooseFiles } from './choose-files.tsx';
import { FileDrop } from './file-drop.tsx';
import { type CardState, ImportFileCard } from './import-file-card.tsx';
import { DEFAULT_SETTINGS, ImportOptions } from './import-options.tsx';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';
import { ReportList } from './report-list.tsx';

const messages = importMessages.bar;

/** A dropped file. Its id is unique, as the same file may be dropped twice. */
export interface DroppedFile {
  id: number;
  file: File;
}

interface NewImportsProps {
  files: readonly DroppedFile[];
  /** The assessment that one comes from. */
  assessmentUid: string | null;
  onAdd: (files: readonly File[]) => void;
  onRemove: (ids: readonly number[]) => void;
}

/** The previews of the chosen reports, their common options, and one button for all. A single one leads to its result. */
export function NewImports({ files, assessmentUid, onAdd, onRemove }: NewImportsProps) {
  const [settings, setSettings] = useState<ImportSettings>({ ...DEFAULT_SETTINGS, assessmentUid });
  const [states, setStates] = useState<Readonly<Record<number, CardState>>>({});
  const [startAll, setStartAll] = useState(0);
  const [isMissing, setMissing] = useState(false);
  const { data: user } = useQuery(currentUserQuery);
  const navigate = useNavigate();
  const names = useAssessmentNames();
  const name = settings.assessmentUid === null ? undefined : names?.get(settings.assessmentUid);
  // Only admins may import without an assessment; staff must then choose an organization.
  const isReady =
    settings.assessmentUid !== null ||
    (user?.admin === true && (!user.staff || settings.organizationUid !== null));
  const [selectedId, setSelectedId] = useState<number>();
  const shownId = (files.find(({ id }) => id === selectedId) ?? files[0])?.id;
  const shown = files.flatMap(({ id }) => states[id] ?? []);
  const startable = shown.filter(({ canStart }) => canStart).length;
  const allStarted = shown.length > 0 && shown.every(({ started }) => started);
  const lacksAssessment = shown.some((state) => state.lacksAssessment && !state.started);
  const changes = shown.reduce((sum, state) => sum + state.changes, 0);
  const importId = files.length === 1 ? shown[0]?.importId : undefined;
  useEffect(() => {
    if (importId !== undefined) void navigate({ to: '/imports/$id', params: { id: String(importId) } });
  }, [importId, navigate]);
  const start = () => {
    setMissing(lacksAssessment);
    if (!lacksAssessment) setStartAll((number) => number + 1);
  };
  return (
    <PageLayout
      title={messages.title}
      fillsHeight
      actions={!allStarted && <ChooseFiles label={messages.addFiles} variant="subtle" onFiles={onAdd} />}
    >
      <FileDrop onFiles={onAdd}>
        <div className={classes.new}>
          <Columns
            width="340"
            label="Options"
            aside={
              !allStarted && (
                <ImportOptions
                  settings={settings}
                  onChange={setSettings}
                  assessmentError={
                    isMissing && settings.assessmentUid === null ? messages.assessmentMissing : undefined
                  }
                />
              )
            }
          >
            <ReportList files={files} states={states} shown={shownId} onShow={setSelectedId}>
              {files.map(({ id, file }) => (
                <div key={id} hidden={id !== shownId}>
                  <ImportFileCard
                    file={file}
                    settings={settings}
                    isReady={isReady}
                    startAll={startAll}
                    onRemove={() => onRemove([id])}
                    onState={(state) => setStates((previous) => ({ ...previous, [id]: state }))}
                  />
                </div>
              ))}
            </ReportList>
          </Columns>
        </div>
        <div className={classes.bottom}>
          {startable > 0 && <DimmedText>{messages.changes(changes)}</DimmedText>}
          <Button variant="default" onClick={() => onRemove(files.map(({ id }) => id))}>
            {allStarted ? 'Close' : 'Cancel'}
          </Button>
          {!allStarted && (
            <Button disabled={startable === 0 && !lacksAssessment} onClick={start}>
              {messages.import(files.length > 1 ? startable : 1, name)}
            </Button>
          )}
        </div>
      </FileDrop>
    </PageLayout>
  );
}
