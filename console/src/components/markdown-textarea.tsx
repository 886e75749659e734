import { Progress, Stack, Text, Textarea, type TextareaProps } from '@mantine/core';
import { type DragEvent, useRef, useState } from 'react';
import { named } from './screenshot-name.ts';
import { errorText } from './notifications.tsx';
import { sendByKeys } from './submit-on-ctrl-enter.ts';

/** Keeps a picture and tells the address that Markdown has for it: `attachment:7`. */
export type KeepPicture = (file: File, progress: (sent: number) => void) => Promise<string>;

export interface PictureAreaProps extends Omit<TextareaProps, 'value' | 'onChange' | 'error'> {
  value: string;
  onChange: (change: (now: string) => string) => void;
  error?: string | undefined;
  /** Absent where nothing keeps pictures. */
  keepPicture?: KeepPicture | undefined;
}

/**
 * A text into which screenshots are pasted and pictures dropped: each is uploaded, and stands where the cursor was.
 * Ctrl or Cmd with Enter sends its form.
 */
export function PictureArea({ value, onChange, keepPicture, error, ...others }: PictureAreaProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [sent, setSent] = useState<number>();
  const [fault, setFault] = useState<string>();
  const take = async (files: readonly File[]) => {
    if (keepPicture === undefined) return;
    setFault(undefined);
    let at = area.current?.selectionEnd ?? value.length;
    for (const file of files)
      try {
        setSent(0);
        const address = await keepPicture(file, setSent);
        const name = file.name.replaceAll(/[[\]\\\r\n]/g, '') || 'screenshot';
        const written = `![${name}](${address})`;
        const place = at;
        onChange((now) => now.slice(0, place) + written + now.slice(place));
        at += written.length;
      } catch (thrown) {
        setFault(`${file.name}: ${errorText(thrown)}`);
      }
    setSent(undefined);
  };
  /** Whether there are pictures, which then are taken. */
  const takeFrom = (data: DataTransfer) => {
    const pictures = [...data.files].filter(({ type }) => type.startsWith('image/'));
    if (keepPicture === undefined || pictures.length === 0) return false;
    void take(pictures.map((file) => named(file)));
    return true;
  };
  return (
    <Stack gap={4}>
      <Textarea
        {...others}
        ref={area}
        autosize
        value={value}
        error={error ?? fault}
        onChange={(event) => {
          const text = event.currentTarget.value;
          onChange(() => text);
        }}
        onKeyDown={sendByKeys}
        onPaste={(event) => {
          if (takeFrom(event.clipboardData)) event.preventDefault();
        }}
        onDragOver={(event: DragEvent) => {
          if (keepPicture !== undefined && event.dataTransfer.types.includes('Files')) event.preventDefault();
        }}
        onDrop={(event: DragEvent) => {
          if (takeFrom(event.dataTransfer)) {
            event.preventDefault();
            event.stopPropagation();
          }
        }}
      />
      {sent !== undefined && (
        <div role="status">
          <Text size="xs" c="dimmed">
            Uploading the picture
          </Text>
          <Progress size="xs" value={100 * sent} aria-label="Uploading the picture" />
        </div>
      )}
    </Stack>
  );
}
