import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { saveFile } from '../../queries/save-file.ts';
import { exportVulnerabilities, type ExportFormat } from '../../queries/export-vulnerabilities.ts';
import type { VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import { errorText, notify } from '../../components/notifications.tsx';
import { Dialog } from '../../components/dialog.tsx';

interface ExportDialogProps {
  format: ExportFormat;
  search: VulnerabilitySearch;
  /** How many there are; `undefined` until they are counted. */
  total: number | undefined;
  onClose: () => void;
}

/** Writes all that a search finds to a file, tells how far it is, and stops when it is told to. */
export default function ExportDialog({ format, search, total, onClose }: ExportDialogProps) {
  const [rows, setRows] = useState(0);
  const [error, setError] = useState<unknown>();
  const [wanted] = useState({ format, search });
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    const stop = new AbortController();
    const name = `vulnerabilities.${wanted.format}`;
    exportVulnerabilities(wanted.search, wanted.format, stop.signal, setRows).then(
      (file) => {
        if (stop.signal.aborted) return;
        saveFile(name, file.content);
        notify(`${file.rows.toLocaleString()} written to ${name}.`);
        close.current();
      },
      (reason: unknown) => {
        if (!stop.signal.aborted) setError(reason);
      },
    );
    return () => stop.abort();
  }, [wanted]);
  const cancel = () => {
    if (error === undefined) notify('The export was stopped; no file was written.');
    onClose();
  };
  return (
    <Dialog onClose={cancel} title="Export" size="sm">
      <Stack gap="sm">
        {error === undefined ? (
          <>
            <Text size="sm" role="status">
              {rows.toLocaleString()}
              {total !== undefined && ` of ${total.toLocaleString()}`} read
            </Text>
            {total !== undefined && (
              <Progress aria-label="Export" value={total === 0 ? 0 : (100 * rows) / total} />
            )}
          </>
        ) : (
          <Alert color="red" title="The list could not be read">
            {errorText(error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={cancel}>
            {error === undefined ? 'Stop' : 'Close'}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
