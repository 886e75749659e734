import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { saveFile } from '../../queries/save-file.ts';
import { exportVulnerabilities, type ExportFormat } from '../../queries/export-vulnerabilities.ts';
import type { VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import { errorText, notify } from '../../components/notifications.ts';
import { Dialog } from '../../components/dialog.tsx';
import { exportMessages } from './dialog-messages.ts';

interface ExportDialogProps {
  format: ExportFormat;
  search: VulnerabilitySearch;
  /** Number of matches; undefined until counted. */
  total: number | undefined;
  onClose: () => void;
}

/** Exports all matches of a search to a file, with progress; closing it cancels the export. */
export default function ExportDialog({ format, search, total, onClose }: ExportDialogProps) {
  const [exportedCount, setExportedCount] = useState(0);
  const [error, setError] = useState<unknown>();
  const [request] = useState({ format, search });
  const onCloseRef = useRef(onClose);
  useEffect(() => {
    onCloseRef.current = onClose;
  });
  useEffect(() => {
    const controller = new AbortController();
    const name = `vulnerabilities.${request.format}`;
    exportVulnerabilities(request.search, request.format, controller.signal, setExportedCount).then(
      (file) => {
        if (controller.signal.aborted) return;
        saveFile(name, file.content);
        notify(exportMessages.done(file.rows, name));
        onCloseRef.current();
      },
      (reason: unknown) => {
        if (!controller.signal.aborted) setError(reason);
      },
    );
    return () => controller.abort();
  }, [request]);
  const cancel = () => {
    if (error === undefined) notify(exportMessages.cancelled);
    onClose();
  };
  return (
    <Dialog onClose={cancel} title={exportMessages.title} size="sm">
      <Stack gap="sm">
        {error === undefined ? (
          <>
            <Text size="sm" role="status">
              {exportMessages.progress(exportedCount, total)}
            </Text>
            {total !== undefined && (
              <Progress
                aria-label={exportMessages.progressLabel}
                value={total === 0 ? 0 : (100 * exportedCount) / total}
              />
            )}
          </>
        ) : (
          <Alert color="red" title={exportMessages.failed}>
            {errorText(error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={cancel}>
            {error === undefined ? 'Cancel' : 'Close'}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
